//! Tests of the server on loopback: addresses, TLS and its reload, slow clients, bodies, compression, request ids.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::*;
use crate::app::server::limits::{MAX_CONNECTIONS, MAX_HEALTH_CONNECTIONS};
use crate::app::server::tls::ServerTls;
use crate::web::{RequestLimits, with_common_middleware};

/// Test routes behind the request limits of the server.
fn router(limits: RequestLimits) -> Router {
    let router = Router::new()
        .route("/healthz", get(async || "alive"))
        .route("/long", get(async || "all work and no play ".repeat(1000)))
        .route("/short", get(async || "short"))
        .route("/events", get(async || ([("content-type", "text/event-stream")], "data: x\n\n".repeat(1000))))
        .route("/never", get(async || std::future::pending::<()>().await))
        .route(
            "/echo",
            post(async |headers: HeaderMap, body: Bytes| format!("{}/{}", headers.len(), body.len())),
        );
    with_common_middleware(router, limits)
}

struct TestServer {
    at: Vec<SocketAddr>,
    stop: CancellationToken,
    server_task: tokio::task::JoinHandle<()>,
}

async fn start(listen: &[&str], limits: RequestLimits, tls: Option<Arc<ServerTls>>) -> TestServer {
    let addresses: Vec<SocketAddr> = listen.iter().map(|address| address.parse().unwrap()).collect();
    let listeners = bind_all(&addresses).await.unwrap();
    let at = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
    let stop = CancellationToken::new();
    let service = HttpService {
        router: router(limits),
        tls,
        response_start_timeout: limits.response_start_timeout,
        trusted_proxies: Arc::default(),
    };
    let server_task = tokio::spawn(serve(listeners, service, stop.clone()));
    TestServer { at, stop, server_task }
}

fn limits_with_timeout(seconds: u64) -> RequestLimits {
    RequestLimits {
        max_body_bytes: 2048,
        response_start_timeout: Duration::from_secs(seconds),
        is_tls_only: false,
    }
}

/// Sends `head` and returns the whole response.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, head: &str) -> String {
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    // A TLS peer that closes without `close_notify` has sent its response all the same.
    let _ = stream.read_to_end(&mut response).await;
    String::from_utf8_lossy(&response).into_owned()
}

async fn send_request(at: SocketAddr, head: &str) -> String {
    exchange(TcpStream::connect(at).await.unwrap(), head).await
}

fn get_request(path: &str, extra_headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{extra_headers}\r\n")
}

#[tokio::test]
async fn every_address_is_served_and_one_in_use_is_an_error() {
    let running = start(&["127.0.0.1:0", "127.0.0.1:0", "[::1]:0"], limits_with_timeout(5), None).await;
    assert_eq!(running.at.len(), 3);
    for at in &running.at {
        assert!(send_request(*at, &get_request("/short", "")).await.ends_with("short"), "{at}");
    }
    let error = bind_all(&["127.0.0.1:0".parse().unwrap(), running.at[0]]).await.unwrap_err().to_string();
    assert!(error.contains(&running.at[0].to_string()) && error.contains("hint: "), "{error}");
    running.stop.cancel();
    running.server_task.await.unwrap();
    assert!(TcpStream::connect(running.at[0]).await.is_err(), "the port is free again");
}

#[tokio::test]
async fn long_responses_are_compressed_and_short_ones_and_events_are_not() {
    let running = start(&["127.0.0.1:0"], limits_with_timeout(5), None).await;
    let response = |path: &'static str, accept: &'static str| {
        send_request(running.at[0], Box::leak(get_request(path, accept).into_boxed_str()))
    };
    let gzip = "Accept-Encoding: gzip\r\n";
    let long = response("/long", gzip).await;
    assert!(long.contains("content-encoding: gzip") && long.len() < 2_000, "{} bytes", long.len());
    assert!(!response("/long", "").await.contains("content-encoding"));
    assert!(!response("/short", gzip).await.contains("content-encoding"));
    assert!(!response("/events", gzip).await.contains("content-encoding"));
}

#[tokio::test]
async fn a_response_has_a_request_id_and_security_headers() {
    let running =
        start(&["127.0.0.1:0"], RequestLimits { is_tls_only: true, ..limits_with_timeout(5) }, None).await;
    let response = send_request(running.at[0], &get_request("/short", "X-Request-Id: abc-1\r\n")).await;
    assert!(response.contains("x-request-id: abc-1\r\n"), "{response}");
    let forged = send_request(running.at[0], &get_request("/short", "X-Request-Id: a b{}\r\n")).await;
    let id = forged.split("x-request-id: ").nth(1).unwrap().split("\r\n").next().unwrap();
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    for header in [
        "strict-transport-security: max-age=31536000",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'",
    ] {
        assert!(response.contains(header), "{header}: {response}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_with_or_without_content_length() {
    let running = start(&["127.0.0.1:0"], limits_with_timeout(5), None).await;
    let post = |length: usize| {
        format!(
            "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{}",
            "x".repeat(length)
        )
    };
    assert!(send_request(running.at[0], &post(2048)).await.ends_with("/2048"));
    assert!(send_request(running.at[0], &post(2049)).await.starts_with("HTTP/1.1 413"));
    let request_with_large_length =
        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n";
    assert!(
        send_request(running.at[0], request_with_large_length).await.starts_with("HTTP/1.1 413"),
        "refused before its bytes come"
    );
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    let chunked = format!(
        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(3)
    );
    assert!(send_request(running.at[0], &chunked).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn slow_heads_bodies_and_responses_time_out() {
    let running = start(&["127.0.0.1:0"], limits_with_timeout(1), None).await;
    let at = running.at[0];
    let bounded = |head: &'static str| tokio::time::timeout(Duration::from_secs(20), send_request(at, head));
    let (head, body, response, silent) = tokio::join!(
        bounded("GET /short HTTP/1.1\r\nHost: a\r\n"),
        bounded("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx"),
        bounded("GET /never HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        bounded(""),
    );
    assert!(!head.unwrap().contains("200 OK"));
    assert!(body.unwrap().starts_with("HTTP/1.1 504"));
    assert!(response.unwrap().starts_with("HTTP/1.1 504"));
    assert_eq!(silent.unwrap(), "");
}

/// A crowd of half-sent requests leaves places for liveness, and nothing else is served over those.
#[tokio::test]
async fn liveness_is_served_beyond_the_limit_of_connections() {
    let running = start(&["127.0.0.1:0"], limits_with_timeout(60), None).await;
    let at = running.at[0];
    let mut stalled = Vec::new();
    for _ in 0..MAX_CONNECTIONS + 2 * MAX_HEALTH_CONNECTIONS {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(b"GET /short HTTP/1.1\r\nHost: a\r\n").await.unwrap();
        stalled.push(stream);
    }
    let liveness = get_request("/healthz", "");
    let response = tokio::time::timeout(Duration::from_secs(5), send_request(at, &liveness)).await.unwrap();
    assert!(response.ends_with("alive"), "{response}");
    let refused = send_request(at, &get_request("/short", "")).await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1\r\n"), "{refused}");
    // Those that stall are closed, and the others are served again.
    drop(stalled);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !send_request(at, &get_request("/short", "")).await.ends_with("short") {
        assert!(tokio::time::Instant::now() < deadline, "the places stay taken");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Writes a certificate and key for `name` and returns the certificate.
fn write_key_pair(folder: &Path, name: &str) -> String {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned(), name.to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), pair.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), pair.signing_key.serialize_pem()).unwrap();
    pair.cert.pem()
}

async fn tls_handshake(
    at: SocketAddr,
    authority: &str,
    alpn: &[u8],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    use rustls_pki_types::pem::PemObject;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls_pki_types::CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    connector.connect(ServerName::try_from("localhost").unwrap(), TcpStream::connect(at).await?).await
}

/// Waits until a handshake that trusts `authority` succeeds.
async fn wait_until_trusted(at: SocketAddr, authority: &str) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while tls_handshake(at, authority, b"http/1.1").await.is_err() {
        assert!(tokio::time::Instant::now() < deadline, "the new certificate is not shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn tls_serves_both_versions_of_http_and_reloads_valid_pairs_only() {
    let folder = tempfile::tempdir().unwrap();
    let first = write_key_pair(folder.path(), "first");
    let tls = ServerTls::load(&folder.path().join("cert.pem"), &folder.path().join("key.pem")).unwrap();
    let tls = Arc::new(tls);
    let running = start(&["127.0.0.1:0"], limits_with_timeout(5), Some(Arc::clone(&tls))).await;
    let (at, stop) = (running.at[0], running.stop.clone());
    let watch_task = tokio::spawn(async move { tls.watch_files(stop, |_| {}).await });
    let stream = tls_handshake(at, &first, b"http/1.1").await.unwrap();
    assert!(exchange(stream, &get_request("/short", "")).await.ends_with("short"));
    let stream = tls_handshake(at, &first, b"h2").await.unwrap();
    let (mut requests, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = hyper::Request::get("https://localhost/short").body(axum::body::Body::empty()).unwrap();
    assert_eq!(requests.send_request(request).await.unwrap().status(), 200);
    assert!(
        !send_request(at, &get_request("/short", "")).await.contains("200 OK"),
        "plain text is not answered"
    );
    let second = write_key_pair(folder.path(), "second");
    wait_until_trusted(at, &second).await;
    assert!(tls_handshake(at, &first, b"http/1.1").await.is_err());
    std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
    // Long enough for the invalid pair to be noticed: two and a half polls.
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert!(tls_handshake(at, &second, b"http/1.1").await.is_ok(), "the pair before stays in force");
    let third = write_key_pair(folder.path(), "third");
    wait_until_trusted(at, &third).await;
    running.stop.cancel();
    watch_task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_handshake_that_stalls_times_out() {
    let folder = tempfile::tempdir().unwrap();
    write_key_pair(folder.path(), "slow");
    let tls = ServerTls::load(&folder.path().join("cert.pem"), &folder.path().join("key.pem")).unwrap();
    let running = start(&["127.0.0.1:0"], limits_with_timeout(1), Some(Arc::new(tls))).await;
    let silent = tokio::time::timeout(Duration::from_secs(20), send_request(running.at[0], "\x16\x03\x01"));
    assert_eq!(silent.await.unwrap(), "");
}
