//! What a check of a page with sixty objects costs in CPU, against the same requests over as many connections and
//! nothing else. The server is a process of its own; on this side all threads count. Only the ratio counts; both
//! sides run in turns.
//!
//! `cargo bench --bench page` takes the median of 9 rounds; `-- --quick` of 3 smaller ones. It ends with 1 when
//! the ratio is over its bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use vigie::model::MonitorType;

use cpu::{attempt, in_turns, net, probe, told};

#[path = "support/cpu.rs"]
mod cpu;

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
        runtime.block_on(serve());
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
        let seen = attempt(&net, probe.as_ref(), Duration::from_secs(30)).await;
        assert!(seen.failure.is_none(), "{:?}", seen.failure);
        let page = seen.course.page.unwrap();
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

/// The least that asks for the same: the page over a connection of its own, the objects over as many as there.
async fn bare(at: SocketAddr) {
    let mut page = connected(at).await;
    assert!(ask(&mut page, at, "/").await > 1_000);
    drop(page);
    let each = (0..CONNECTIONS).map(|connection| async move {
        let mut sender = connected(at).await;
        for number in (connection..OBJECTS).step_by(CONNECTIONS) {
            assert_eq!(ask(&mut sender, at, &format!("/{number}.png")).await, BYTES);
        }
    });
    join_all(each).await;
}

async fn connected(at: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(at).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    // How it ends does not matter: it was answered until then.
    tokio::spawn(async move { drop(connection.await) });
    sender
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

/// Ends with what it serves.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program as the server, and where it listens.
fn served() -> (Server, SocketAddr) {
    let mut child =
        Command::new(std::env::current_exe().unwrap()).arg("--serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Server(child), line.trim().parse().unwrap())
}

async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    let body = "<p>a word or two of what this page is about, as pages have it</p>\n";
    let page: String = (0..OBJECTS)
        .map(|number| format!("{body}<img src='/{number}.png' alt=''>\n"))
        .collect::<Vec<_>>()
        .concat();
    let (page, object) = (Bytes::from(page), Bytes::from(vec![b'x'; BYTES]));
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (page, object) = (page.clone(), object.clone());
        let answer = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
            let (kind, body) = match request.uri().path() {
                "/" => ("text/html", page.clone()),
                _ => ("image/png", object.clone()),
            };
            let answer =
                Response::builder().header(header::CONTENT_TYPE, kind).body(Full::new(body)).unwrap();
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let serving =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(async move {
            // A client that has heard enough may end the connection as it likes.
            let _ = serving.await;
        });
    }
}
