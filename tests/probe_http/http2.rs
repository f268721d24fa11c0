//! HTTP/2: by prior knowledge and by ALPN, with fallback, and peers that violate the protocol.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::version::TLS13;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind as Kind, Phase, Phases, WarningKind};
use vigie::net::Deadline;
use vigie::protocol::http::{HttpProtocol, send_request};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{Fails, Passes, Warns};
use crate::probe_http::server::{Act, Server, page, respond, send};
use crate::probe_http::tls::{acceptor, pem};
use crate::support::tls_server::{Authority, config};

/// Serves a page of `bytes` bytes, a redirect at `/old`, an error at `/broken`, and the method at `/echo`.
async fn serve<S>(stream: S, bytes: usize)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| async move {
        let uri = request.uri();
        let response = match uri.path() {
            "/old" => hyper::Response::builder().status(302).header("location", "/new").body(Bytes::new()),
            "/broken" => hyper::Response::builder().status(503).body(Bytes::new()),
            "/echo" => {
                let forbidden = ["connection", "host", "transfer-encoding"];
                let found = forbidden.iter().filter(|name| request.headers().contains_key(**name)).count();
                let text = format!("{} {} {found} banned", request.method(), uri.path());
                hyper::Response::builder().body(text.into())
            }
            _ => hyper::Response::builder().body(vec![b'x'; bytes].into()),
        };
        Ok::<_, Infallible>(response.unwrap().map(Full::new))
    });
    let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn start(bytes: usize, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            match tls.clone() {
                None => drop(tokio::spawn(serve(tcp, bytes))),
                Some(tls) => drop(tokio::spawn(async move {
                    if let Ok(stream) = tls.accept(tcp).await {
                        serve(stream, bytes).await;
                    }
                })),
            }
        }
    });
    address
}

fn check(url: &str) -> Check {
    Check::new(url).with(json!({"http_version": "2"}))
}

#[tokio::test]
async fn prior_knowledge_over_http() {
    let server = start(300_000, None).await;
    let observation = check(&format!("http://{server}/")).run().await;
    Passes.compare(&observation).unwrap();
    for phase in [Phase::Send, Phase::FirstByte, Phase::Transfer] {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
    }
    let facts = observation.facts.http.unwrap();
    assert_eq!((facts.http_version.as_str(), facts.body_bytes, facts.http_reason), ("HTTP/2", 300_000, None));
}

// Types and flags of frames (RFC 9113 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// Returns a frame of the first stream, or of the connection (RFC 9113 4.1).
fn frame(frame_type: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[frame_type, flags, 0, 0, 0, stream], payload].concat()
}

/// Reads the preface of a client and its frames, up to the head of its request.
async fn read_request(stream: &mut DuplexStream) {
    let mut skipped = vec![0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()];
    let mut header = [0; 9];
    while header[3] != HEADERS {
        stream.read_exact(&mut skipped).await.unwrap();
        stream.read_exact(&mut header).await.unwrap();
        skipped.resize(usize::from(header[1]) << 8 | usize::from(header[2]), 0);
    }
}

/// The connection reads all of it before the task that waits for the head runs.
#[tokio::test]
async fn a_long_body_that_arrives_with_its_head_is_not_a_long_head() {
    let (client, mut server) = tokio::io::duplex(1024 * 1024);
    tokio::spawn(async move {
        // `:status 200`, as the static table of HPACK numbers it.
        let head = frame(HEADERS, END_HEADERS, 1, &[0x88]);
        let body = frame(DATA, 0, 1, &[b'x'; 16_384]).repeat(20);
        let response = [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[]), head, body].concat();
        read_request(&mut server).await;
        server.write_all(&response).await.unwrap();
        std::future::pending::<()>().await;
    });
    let request = hyper::Request::get("http://127.0.0.1/").body(Full::default()).unwrap();
    let (deadline, mut phases) = (Deadline::within(Duration::from_mins(1)), Phases::default());
    let (head, _) = send_request(client, HttpProtocol::Http2, request, deadline, &mut phases).await.unwrap();
    assert_eq!(head.status, 200);
}

#[tokio::test]
async fn redirects_errors_and_posts() {
    let server = start(1, None).await;
    let observation = check(&format!("http://{server}/old")).run().await;
    Passes.compare(&observation).unwrap();
    assert_eq!(observation.facts.http.unwrap().redirects.len(), 1);
    let observation = check(&format!("http://{server}/broken")).run().await;
    Fails(7, Kind::HttpErrorStatus, Some(Phase::Validate)).compare(&observation).unwrap();
    let post = json!({"http_method": "POST", "post_body": "a=b", "keyword_string": "POST /echo 0 banned"});
    Passes.compare(&check(&format!("http://{server}/echo")).with(post).run().await).unwrap();
}

#[tokio::test]
async fn alpn_over_https_and_the_fall_back_to_1_1() {
    let ca = Authority::new("test CA");
    let own = ca.issue(&["127.0.0.1"], (2020, 2090));
    let mut http2_config = config(&own, &[&TLS13], None);
    http2_config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let address = start(10, Some(TlsAcceptor::from(Arc::new(http2_config)))).await;
    let mut http2_check = check(&format!("https://{address}/"));
    http2_check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    let observation = http2_check.run().await;
    Passes.compare(&observation).unwrap();
    assert_eq!(observation.facts.http.unwrap().http_version, "HTTP/2");
    let old = Server::tls(acceptor(config(&own, &[&TLS13], None)), vec![respond(page("x"))]).await;
    let mut http1_check = check(&format!("https://{}/", old.address));
    http1_check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    let observation = http1_check.run().await;
    Passes.compare(&observation).unwrap();
    Warns(WarningKind::CapabilityDowngrade).compare(&observation).unwrap();
    assert_eq!(observation.facts.http.unwrap().http_version, "HTTP/1.1");
    assert!(old.requests()[0].contains("\r\nConnection: close\r\n"), "{:?}", old.requests());
}

#[tokio::test]
async fn a_body_over_the_limit_is_too_large() {
    let server = start(3 * 1024 * 1024, None).await;
    let observation = check(&format!("http://{server}/")).run().await;
    Fails(3, Kind::ResponseTooLarge, Some(Phase::Transfer)).compare(&observation).unwrap();
}

#[tokio::test]
async fn http2_violations_fail_with_their_kind() {
    let settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    let goaway = b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02";
    let reset = b"\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x07";
    let ping = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00aaaaaaaa";
    // HEADERS with an index that is in no table.
    let headers = b"\x00\x00\x01\x01\x04\x00\x00\x00\x01\xff";
    for (name, script, kinds) in [
        ("HTTP/1.1 instead", respond(page("x")), &[Kind::ResponseInvalid][..]),
        ("closed", vec![Act::Request], &[Kind::NoResponse]),
        ("reset", vec![Act::Request, Act::Reset], &[Kind::ResponseReset]),
        ("closed after settings", vec![Act::Request, send(settings)], &[Kind::ResponseTruncated]),
        (
            "going away",
            vec![Act::Request, send(settings), send(goaway)],
            &[Kind::ResponseInvalid, Kind::ResponseTruncated],
        ),
        (
            "stream reset",
            vec![Act::Request, send(settings), send(reset), Act::Stall],
            &[Kind::ResponseInvalid],
        ),
        (
            "headers that cannot be read",
            vec![Act::Request, send(settings), send(headers), Act::Stall],
            &[Kind::ResponseInvalid],
        ),
        ("stalled", vec![Act::Request, send(settings), Act::Stall], &[Kind::TimedOut]),
        (
            "pings without end",
            vec![Act::Request, send(settings), Act::Endless(ping.repeat(100))],
            &[Kind::ResponseTooLarge, Kind::ResponseInvalid],
        ),
    ] {
        let server = Server::start(vec![script]).await;
        let mut check = check(&server.url("/"));
        if kinds == [Kind::TimedOut] {
            check.timeout = std::time::Duration::from_secs(1);
        }
        let observation = check.run().await;
        let failure = observation.failure.as_ref().unwrap_or_else(|| panic!("{name}: {observation:#?}"));
        assert!(kinds.contains(&failure.kind), "{name}: {observation:#?}");
    }
}
