//! The forward proxy of browsers, tested by hand-written requests: what it forwards, refuses and records.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vigie::domain::{FailureKind, TraceId};
use vigie::forward_proxy::{
    AllowedClients, BlockedHosts, ForwardProxy, ForwardProxyConfig, PROXY_ERROR_HEADER,
};
use vigie::net::{EgressPolicy, Net, NetConfig, PublicRoots, TlsOptions, TrustConfig};

use crate::browser_pool::test_pool::net;

/// Starts a server that reads until `until`, then sends `response`; the task returns everything that it read.
async fn server(
    until: &'static str,
    response: &'static [u8],
) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains(until) {
            if stream.read_buf(&mut read).await.unwrap() == 0 {
                break;
            }
        }
        stream.write_all(response).await.unwrap();
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        String::from_utf8_lossy(&read).into_owned()
    });
    (address, serving)
}

/// Sends `request` to a forward proxy over `net`; returns the response up to `enough` or the end.
async fn send_request(forward: &ForwardProxy, net: &Net, request: &[u8], enough: &str) -> String {
    let exchange = async {
        let mut stream = TcpStream::connect(forward.listen_address()).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut read = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&read).into_owned();
            // A reset ends the response too.
            if text.contains(enough) || stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
                return String::from_utf8_lossy(&read).into_owned();
            }
        }
    };
    tokio::select! {
        text = exchange => text,
        never = forward.serve(net) => match never {},
        () = tokio::time::sleep(Duration::from_secs(20)) => panic!("no end after {}", String::from_utf8_lossy(request)),
    }
}

async fn forward() -> ForwardProxy {
    ForwardProxy::bind(ForwardProxyConfig::default()).await.unwrap()
}

#[tokio::test]
async fn a_request_in_absolute_form_reaches_its_target_in_origin_form() {
    let (to, received) = server(
        "\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nVigie-Refused: no\r\nX-Own: 1\r\nContent-Length: 5\r\n\r\nhello",
    )
    .await;
    let request = format!(
        "GET http://{to}/a?b=c HTTP/1.1\r\nHost: elsewhere\r\nProxy-Connection: keep-alive\r\nX-Hop: 1\r\n\
         Connection: X-Hop, close\r\nProxy-Authorization: Basic eA==\r\nTE: trailers\r\nX-Kept: 2\r\n\r\n"
    );
    let forward = forward().await;
    let response = send_request(&forward, &net(), request.as_bytes(), "hello").await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with("\r\n\r\nhello"), "{response}");
    assert!(response.contains("X-Own: 1\r\n") && !response.contains("Keep-Alive"), "{response}");
    assert!(!response.to_lowercase().contains(PROXY_ERROR_HEADER), "{response}");
    let received = received.await.unwrap();
    assert!(received.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{received}");
    assert!(
        received.contains(&format!("Host: {to}\r\n")) && received.contains("X-Kept: 2\r\n"),
        "{received}"
    );
    for hop in ["Proxy-", "X-Hop", "TE:", "Connection", "Via", "elsewhere"] {
        assert!(!received.contains(hop), "{hop} in {received}");
    }
    assert_eq!(forward.last_failure("127.0.0.1", to.port()), None);
}

#[tokio::test]
async fn bodies_in_chunks_pass_both_ways() {
    let (to, received) = server(
        "0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    )
    .await;
    let request = format!(
        "POST http://{to}/ HTTP/1.1\r\nHost: {to}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
    );
    let response = send_request(&forward().await, &net(), request.as_bytes(), "0\r\n\r\n").await;
    assert!(response.to_lowercase().contains("transfer-encoding: chunked\r\n"), "{response}");
    assert!(response.contains("hello") && response.contains(" world"), "{response}");
    let received = received.await.unwrap();
    assert!(received.contains("abc") && received.contains("defg"), "{received}");
}

#[tokio::test]
async fn one_connection_to_a_target_serves_several_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    // Accepts one connection and no second.
    let server_task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for body in ["one", "two"] {
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                assert!(stream.read_buf(&mut read).await.unwrap() > 0);
            }
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{body}");
            stream.write_all(response.as_bytes()).await.unwrap();
        }
    });
    let single_request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let response =
        send_request(&forward().await, &net(), format!("{single_request}{single_request}").as_bytes(), "two")
            .await;
    assert!(response.contains("one") && response.contains("two"), "{response}");
    server_task.await.unwrap();
}

#[tokio::test]
async fn connect_and_upgrades_become_tunnels() {
    let (to, received) = server("ping", b"pong").await;
    let forward = forward().await;
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nping");
    let response = send_request(&forward, &net(), request.as_bytes(), "pong").await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with("\r\n\r\npong"), "{response}");
    assert_eq!(received.await.unwrap(), "ping");
    assert_eq!(forward.target_connection("127.0.0.1", to.port()).unwrap().peer_address, Some(to));

    let switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\npong";
    let (to, received) = server("\r\n\r\n", switch).await;
    let request = format!(
        "GET http://{to}/chat HTTP/1.1\r\nHost: {to}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n"
    );
    let response = send_request(&forward, &net(), request.as_bytes(), "pong").await;
    assert!(response.starts_with("HTTP/1.1 101 ") && response.contains("websocket"), "{response}");
    let received = received.await.unwrap();
    assert!(received.contains("Upgrade: websocket\r\n"), "{received}");
}

#[tokio::test]
async fn unreachable_targets_are_refused_and_recorded() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (silent, _seen) = server("\r\n\r\n", b"").await;
    let (nonsense, _seen2) = server("\r\n\r\n", b"ICY 200 OK\r\n\r\n").await;
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let egress = EgressPolicy::parse(&[], &["10.0.0.0/8"]).unwrap();
    let net =
        Net::new(&NetConfig { trust_config: trust, egress_policy: egress, ..NetConfig::default() }).unwrap();
    let blocked = BlockedHosts::parse(&["ads.example.com", "*.tracker.example"]).unwrap();
    let forward =
        ForwardProxy::bind(ForwardProxyConfig { blocked_hosts: blocked, ..ForwardProxyConfig::default() })
            .await
            .unwrap();
    let own = forward.listen_address();
    for (host, port, status, kind) in [
        ("10.1.2.3", 80, "403", FailureKind::EgressDenied),
        ("169.254.169.254", 80, "403", FailureKind::EgressDenied),
        ("ads.example.com", 80, "403", FailureKind::NavigationFailed),
        ("A.Tracker.example", 80, "403", FailureKind::NavigationFailed),
        ("127.0.0.1", closed.port(), "502", FailureKind::ConnectRefused),
        ("127.0.0.1", own.port(), "403", FailureKind::EgressDenied),
    ] {
        for request in [
            format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"),
            format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"),
        ] {
            let response = send_request(&forward, &net, request.as_bytes(), "\r\n\r\n").await;
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request}{response}");
            assert!(response.contains(&format!("\r\n{PROXY_ERROR_HEADER}: ")), "{request}{response}");
            assert_eq!(forward.last_failure(host, port).unwrap().kind, kind, "{request}{response}");
        }
    }
    for (to, kind) in [(silent, FailureKind::NoResponse), (nonsense, FailureKind::ResponseInvalid)] {
        let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
        let response = send_request(&forward, &net, request.as_bytes(), "\r\n\r\n").await;
        assert!(response.starts_with("HTTP/1.1 502 "), "{response}");
        assert_eq!(forward.last_failure("127.0.0.1", to.port()).unwrap().kind, kind);
    }
}

#[tokio::test]
async fn requests_not_meant_for_a_proxy_are_refused() {
    let huge = format!("GET http://127.0.0.1:1/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(200_000));
    let many = format!("GET http://127.0.0.1:1/ HTTP/1.1\r\n{}\r\n", "X: 1\r\n".repeat(300));
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("GET https://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("nonsense\r\n\r\n", "400"),
        (huge.as_str(), "431"),
        (many.as_str(), "431"),
    ] {
        let response = send_request(&forward().await, &net(), request.as_bytes(), "\r\n\r\n").await;
        let text: String = request.chars().take(60).collect();
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{text}: {response}");
    }
}

#[tokio::test]
async fn a_slow_client_does_not_block_others() {
    let (to, _seen) = server("\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let forward = forward().await;
    let mut slow = TcpStream::connect(forward.listen_address()).await.unwrap();
    slow.write_all(b"GET http://").await.unwrap();
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    assert!(send_request(&forward, &net(), request.as_bytes(), "\r\n\r\nok").await.contains("200"));
}

#[tokio::test]
async fn other_users_of_the_host_are_not_served() {
    let (to, _seen) = server("\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let peers = AllowedClients::LocalUser(4_000_000_000);
    let forward =
        ForwardProxy::bind(ForwardProxyConfig { allowed_clients: peers, ..ForwardProxyConfig::default() })
            .await
            .unwrap();
    assert_eq!(send_request(&forward, &net(), request.as_bytes(), "\r\n\r\n").await, "");
}

async fn tracing_proxy() -> ForwardProxy {
    let rules = ForwardProxyConfig {
        trace_id: Some(TraceId::from_bits(0xFACE)),
        tls_interception: Some(TlsOptions::default()),
        ..ForwardProxyConfig::default()
    };
    ForwardProxy::bind(rules).await.unwrap()
}

#[tokio::test]
async fn requests_to_the_named_site_carry_the_trace_and_others_do_not() {
    const PARENT: &str = "traceparent: 00-0000000000000000000000000000face-";
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for (site, own) in [(None, false), (Some("127.0.0.1"), true), (Some("localhost"), false)] {
        let forward = tracing_proxy().await;
        if let Some(site) = site {
            forward.set_trace_site(site);
            forward.set_trace_site("elsewhere.example");
        }
        let (to, received) = server("\r\n\r\n", ok).await;
        let request = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nTraceState: a=b\r\n\r\n");
        let response = send_request(&forward, &net(), request.as_bytes(), "\r\n\r\nok").await;
        assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
        let received = received.await.unwrap();
        assert_eq!(
            (received.contains(PARENT), received.to_lowercase().contains("tracestate")),
            (own, !own),
            "{received}"
        );
    }
}

#[tokio::test]
async fn a_tunnel_to_the_named_site_carries_the_trace_and_still_switches() {
    let forward = tracing_proxy().await;
    forward.set_trace_site("127.0.0.1");
    let switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\npong";
    let (to, received) = server("\r\n\r\n", switch).await;
    let request = format!(
        "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nGET /chat HTTP/1.1\r\nHost: {to}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    );
    let response = send_request(&forward, &net(), request.as_bytes(), "pong").await;
    assert!(response.contains("HTTP/1.1 101 ") && response.ends_with("\r\n\r\npong"), "{response}");
    let received = received.await.unwrap();
    assert!(
        received.starts_with("GET /chat HTTP/1.1\r\n") && received.contains("traceparent: 00-"),
        "{received}"
    );
    let ok = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end";
    let (to, received) = server("\r\n\r\n", ok).await;
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nGET / HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let response = send_request(&forward, &net(), request.as_bytes(), "the end").await;
    assert!(response.contains("until the end"), "{response}");
    assert!(received.await.unwrap().contains("traceparent: 00-"));
}

#[tokio::test]
async fn a_traced_tunnel_serves_several_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    let server_task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = String::new();
        for body in ["one", "two"] {
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                assert!(stream.read_buf(&mut read).await.unwrap() > 0);
            }
            received.push_str(&String::from_utf8_lossy(&read));
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{body}");
            stream.write_all(response.as_bytes()).await.unwrap();
        }
        received
    });
    let forward = tracing_proxy().await;
    forward.set_trace_site("127.0.0.1");
    let single_request = format!("GET / HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n{single_request}{single_request}");
    let response = send_request(&forward, &net(), request.as_bytes(), "two").await;
    assert!(response.contains("one") && response.contains("two"), "{response}");
    assert_eq!(server_task.await.unwrap().matches("traceparent: 00-").count(), 2);
}
