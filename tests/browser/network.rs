//! Address families, proxies and certificates as set by the fields of a browser monitor.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use vigie::net::{Endpoint, Pem, ProxyProtocol, PublicRoots, TrustConfig, UpstreamProxy};

use crate::browser::check::{Check, browsers, one};
use crate::support::side_by_side::each;
use crate::support::tls_page::serve_page;
use crate::support::tls_server::{self, Authority};

/// Serves a page at `address` only.
async fn serve_at(address: &str) -> SocketAddr {
    let listener = TcpListener::bind(address).await.unwrap();
    let at = listener.local_addr().unwrap();
    let router = Router::new().fallback(get(|| async { Html("<title>Here</title>") }));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    at
}

// row: 2.2 browserscript.ipv6_enabled
#[tokio::test(flavor = "multi_thread")]
async fn only_addresses_of_the_enabled_family_are_used() {
    let (four, six) = (serve_at("127.0.0.1:0").await, serve_at("[::1]:0").await);
    let Some(kind) = one("only_addresses_of_the_enabled_family_are_used") else { return };
    for (ipv6_enabled, of_four, of_six) in [("Disabled", 0, 51), ("Preferred", 0, 0), ("Enforced", 51, 0)] {
        for (at, expected) in [(four, of_four), (six, of_six)] {
            let fields = json!({"url": format!("http://{at}/"), "ipv6_enabled": ipv6_enabled});
            let observation = Check::without_script(kind, fields).run().await;
            let status = observation.failure.as_ref().map_or(0, |failure| failure.status().0);
            assert_eq!(status, expected, "{ipv6_enabled} {at}: {:?}", observation.failure);
        }
    }
}

/// Starts a proxy that supports only `CONNECT` (RFC 9110 9.3.6); returns it with its log of targets.
async fn proxy() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let targets: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&targets);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") && client.read_buf(&mut head).await.is_ok_and(|n| n > 0) {}
                let head = String::from_utf8_lossy(&head).into_owned();
                let to = head.split(' ').nth(1).unwrap_or_default().to_owned();
                log.lock().unwrap().push(to.clone());
                let Ok(mut target) = TcpStream::connect(&to).await else { return };
                let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                let _ = copy_bidirectional(&mut client, &mut target).await;
            });
        }
    });
    (at, targets)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_uses_the_proxy_of_the_monitor() {
    let target = serve_at("127.0.0.1:0").await;
    let (at, targets) = proxy().await;
    let Some(kind) = one("the_browser_uses_the_proxy_of_the_monitor") else { return };
    for (proxy_id, status) in [(0, 0), (1, 0), (9, 95)] {
        let fields = json!({"url": format!("http://{target}/"), "proxy_id": proxy_id});
        let mut check = Check::without_script(kind, fields);
        check.proxies =
            [(1, UpstreamProxy::new(ProxyProtocol::Http, Endpoint::new("127.0.0.1", at.port())))].into();
        check.fails(status).await;
        let through = targets.lock().unwrap().contains(&target.to_string());
        assert_eq!(through, proxy_id > 0, "{proxy_id}: {:?}", targets.lock().unwrap());
    }
}

fn pem(text: String) -> Pem {
    Pem { label: "test".to_owned(), text: text.into_bytes() }
}

// Servers have a certificate of a private authority, and one of them requires a client certificate.
// row: 2.2 browserscript.ssl_cert_id; 2.2 browserscript.use_client_ssl_cert
#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_verified_and_sent_as_the_fields_say() {
    let authority = Authority::new("private");
    let server = authority.issue(&["localhost"], (2020, 2090));
    let config = |client: Option<&Authority>| tls_server::config(&server, rustls::ALL_VERSIONS, client);
    let open = serve_page(config(None), "Open").await;
    let closed = serve_page(config(Some(&authority)), "Closed").await;
    let trust = TrustConfig {
        public_roots: PublicRoots::None,
        named_authorities: [(1, pem(authority.pem()))].into(),
        client_certificates: [(2, pem(authority.issue(&["watcher"], (2020, 2090)).pem()))].into(),
        ..TrustConfig::default()
    };
    let table: [(SocketAddr, serde_json::Value, &[u16]); 8] = [
        (open, json!({}), &[3]),
        (open, json!({"verify_certificate": false}), &[0]),
        (open, json!({"ca_cert_id": 1}), &[0]),
        (open, json!({"ca_cert_id": 9}), &[95]),
        (closed, json!({"ca_cert_id": 1, "ssl_cert_id": 2, "use_client_ssl_cert": true}), &[0]),
        // The server refuses after the handshake (RFC 8446 4.4.2.4): a broken handshake, or no response.
        (closed, json!({"ca_cert_id": 1, "ssl_cert_id": 2, "use_client_ssl_cert": false}), &[3, 6]),
        (closed, json!({"verify_certificate": false, "ssl_cert_id": 2, "use_client_ssl_cert": true}), &[0]),
        (closed, json!({"ca_cert_id": 1, "ssl_cert_id": 9, "use_client_ssl_cert": true}), &[95]),
    ];
    each(browsers("certificates_are_verified_and_sent_as_the_fields_say"), async |kind| {
        for (at, fields, statuses) in &table {
            let url = json!({"url": format!("https://localhost:{}/", at.port())});
            let mut check = Check::without_script(kind, url).with(fields.clone());
            check.config.trust_config = trust.clone();
            let observation = check.run().await;
            let status = observation.failure.as_ref().map_or(0, |failure| failure.status().0);
            assert!(statuses.contains(&status), "{kind:?} {fields}: {status} {:?}", observation.failure);
        }
    })
    .await;
}
