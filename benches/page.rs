//! What a check of a page with sixty objects costs in CPU, against the same requests over as many connections and
//! nothing else. The server is a process of its own; on this side all threads count. Only the ratio counts; both
//! sides run in turns.
//!
//! `cargo bench --bench page` takes the median of 9 rounds; `-- --quick` of 3 smaller ones. It ends with 1 when
//! the ratio is over its bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use serde_json::json;
use vigie::domain::MonitorType;
use vigie::net::ResetOnClose;

use cpu::{attempt, in_turns, net, probe, told};
use web::{serve, served, speak, stream};

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/web.rs"]
mod web;

/// The bound of the ratio.
const PAGE: f64 = 1.3;
/// Objects of the page.
const OBJECTS: usize = 60;
/// Connections that they come over, as browsers have them.
const CONNECTIONS: usize = 6;
/// Bytes of an object.
const BYTES: usize = 8_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if std::env::args().any(|arg| arg == "--serve") {
        runtime.block_on(serve(answers()));
        return ExitCode::SUCCESS;
    }
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, checks) = if quick { (3, 50) } else { (9, 200) };
    let (_server, at) = served();
    let ratio = runtime.block_on(compare(at, rounds, checks));
    println!("{}", if ratio <= PAGE { "the bound holds" } else { "THE BOUND DOES NOT HOLD" });
    if ratio <= PAGE { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn compare(at: SocketAddr, rounds: usize, checks: u32) -> f64 {
    let net = net();
    let fields = json!({
        "url": format!("http://{at}/"), "interval_fullpage": 1, "fullpage_object_timeout": 10,
        "notify_on_fullpage_errors": true,
    });
    let probe = probe(MonitorType::Website, fields);
    let ours = async || {
        let observation = attempt(&net, probe.as_ref(), Duration::from_secs(30)).await;
        assert!(observation.failure.is_none(), "{:?}", observation.failure);
        let page = observation.details.page.unwrap();
        assert_eq!(page.objects.len(), OBJECTS);
        assert!(page.objects.iter().all(|object| object.body_bytes == BYTES as u64));
    };
    let bare = async || tokio::time::timeout(Duration::from_secs(30), bare(at)).await.unwrap();
    let costs = in_turns(rounds, checks, ours, bare).await;
    println!(
        "a page of {OBJECTS} objects of {BYTES} bytes over {CONNECTIONS} connections, {checks} a round:"
    );
    told("full page", "the bare requests", &costs, checks, PAGE)
}

/// The least that asks for the same: the page over a connection of its own, the objects over as many as there. They
/// end by a reset, as those of the check do: one that takes its leave has the kernel work on when it is the other
/// side's turn.
async fn bare(at: SocketAddr) {
    let (mut page, _) = speak(ResetOnClose::new(stream(at).await)).await;
    assert!(ask(&mut page, at, "/").await > 1_000);
    drop(page);
    let each = (0..CONNECTIONS).map(|connection| async move {
        let (mut sender, _) = speak(ResetOnClose::new(stream(at).await)).await;
        for number in (connection..OBJECTS).step_by(CONNECTIONS) {
            assert_eq!(ask(&mut sender, at, &format!("/{number}.png")).await, BYTES);
        }
    });
    join_all(each).await;
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, at: SocketAddr, path: &str) -> usize {
    sender.ready().await.unwrap();
    let request = Request::get(path)
        .header(header::HOST, at.to_string())
        .header(header::USER_AGENT, "bare")
        .header(header::ACCEPT, "*/*")
        .header(header::REFERER, format!("http://{at}/"))
        .body(Full::<Bytes>::default())
        .unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.into_body().collect().await.unwrap().to_bytes().len()
}

/// The page at `/`, and its objects elsewhere.
fn answers() -> impl Fn(&str) -> (&'static str, Bytes) + Clone + Send + Sync + 'static {
    let body = "<p>a word or two of what this page is about, as pages have it</p>\n";
    let page: String = (0..OBJECTS)
        .map(|number| format!("{body}<img src='/{number}.png' alt=''>\n"))
        .collect::<Vec<_>>()
        .concat();
    let (page, object) = (Bytes::from(page), Bytes::from(vec![b'x'; BYTES]));
    move |path| match path {
        "/" => ("text/html", page.clone()),
        _ => ("image/png", object.clone()),
    }
}
