//! CPU of a check of a page with sixty objects, against the same requests over as many connections and nothing else.
//! The server is a separate process; on this side all threads count. Only the ratio counts; both sides alternate.
//!
//! `cargo bench --bench page` takes the median of 9 rounds; `-- --quick` of 3 smaller ones. It exits with 1 when
//! the ratio is over its limit.
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

use cpu::{alternate, attempt, net, probe, report};
use web::{handshake, serve, start_server, stream};

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/web.rs"]
mod web;

/// Greatest accepted ratio.
const PAGE: f64 = 1.3;
/// Objects of the page.
const OBJECTS: usize = 60;
/// Connections for the objects, as browsers open.
const CONNECTIONS: usize = 6;
/// Size of an object, in bytes.
const BYTES: usize = 8_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if std::env::args().any(|arg| arg == "--serve") {
        runtime.block_on(serve(handler()));
        return ExitCode::SUCCESS;
    }
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, checks) = if quick { (3, 50) } else { (9, 200) };
    let (_server, at) = start_server();
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
        let page = observation.details.page_load.unwrap();
        assert_eq!(page.objects.len(), OBJECTS);
        assert!(page.objects.iter().all(|object| object.body_bytes == BYTES as u64));
    };
    let bare = async || tokio::time::timeout(Duration::from_secs(30), bare(at)).await.unwrap();
    let costs = alternate(rounds, checks, ours, bare).await;
    println!(
        "a page of {OBJECTS} objects of {BYTES} bytes over {CONNECTIONS} connections, {checks} a round:"
    );
    report("full page", "the bare requests", &costs, checks, PAGE)
}

/// The least work for the same requests: the page over its own connection, the objects over [`CONNECTIONS`]. They are
/// closed by a reset, as those of the check are: an orderly close makes the kernel work during the turn of the other
/// side.
async fn bare(at: SocketAddr) {
    let (mut page, _) = handshake(ResetOnClose::new(stream(at).await)).await;
    assert!(get(&mut page, at, "/").await > 1_000);
    drop(page);
    let each = (0..CONNECTIONS).map(|connection| async move {
        let (mut sender, _) = handshake(ResetOnClose::new(stream(at).await)).await;
        for number in (connection..OBJECTS).step_by(CONNECTIONS) {
            assert_eq!(get(&mut sender, at, &format!("/{number}.png")).await, BYTES);
        }
    });
    join_all(each).await;
}

async fn get(sender: &mut SendRequest<Full<Bytes>>, at: SocketAddr, path: &str) -> usize {
    sender.ready().await.unwrap();
    let request = Request::get(path)
        .header(header::HOST, at.to_string())
        .header(header::USER_AGENT, "bare")
        .header(header::ACCEPT, "*/*")
        .header(header::REFERER, format!("http://{at}/"))
        .body(Full::<Bytes>::default())
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    response.into_body().collect().await.unwrap().to_bytes().len()
}

/// Returns the handler of requests: the page at `/`, objects at all other paths.
fn handler() -> impl Fn(&str) -> (&'static str, Bytes) + Clone + Send + Sync + 'static {
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
