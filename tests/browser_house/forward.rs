//! The forward proxy of browsers, spoken to by hand: what it passes on, what it refuses, and what it remembers.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vigie::domain::FailureKind;
use vigie::forward_proxy::{
    AllowedClients, BlockedHosts, ForwardProxy, ForwardProxyConfig, REFUSED_HEADER, TraceId,
};
use vigie::net::{EgressPolicy, Net, NetConfig, Roots, TlsOptions, TrustConfig};

use crate::browser_house::world::net;

/// A server that reads until `until` was seen, then says `says`; answers with all that it read.
async fn server(until: &'static str, says: &'static [u8]) -> (SocketAddr, tokio::task::JoinHandle<String>) {
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
        stream.write_all(says).await.unwrap();
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        String::from_utf8_lossy(&read).into_owned()
    });
    (address, serving)
}

/// Sends `asks` to a forward proxy over `net`, and reads until `enough` or the end.
async fn asked(forward: &ForwardProxy, net: &Net, asks: &[u8], enough: &str) -> String {
    let talk = async {
        let mut stream = TcpStream::connect(forward.address()).await.unwrap();
        stream.write_all(asks).await.unwrap();
        let mut read = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&read).into_owned();
            // A reset is an end too.
            if text.contains(enough) || stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
                return String::from_utf8_lossy(&read).into_owned();
            }
        }
    };
    tokio::select! {
        text = talk => text,
        never = forward.serve(net) => match never {},
        () = tokio::time::sleep(Duration::from_secs(20)) => panic!("no end after {}", String::from_utf8_lossy(asks)),
    }
}

async fn forward() -> ForwardProxy {
    ForwardProxy::bind(ForwardProxyConfig::default()).await.unwrap()
}

#[tokio::test]
async fn a_request_in_absolute_form_reaches_its_target_in_origin_form() {
    let (to, seen) = server(
        "\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nVigie-Refused: no\r\nX-Own: 1\r\nContent-Length: 5\r\n\r\nhello",
    )
    .await;
    let asks = format!(
        "GET http://{to}/a?b=c HTTP/1.1\r\nHost: elsewhere\r\nProxy-Connection: keep-alive\r\nX-Hop: 1\r\n\
         Connection: X-Hop, close\r\nProxy-Authorization: Basic eA==\r\nTE: trailers\r\nX-Kept: 2\r\n\r\n"
    );
    let forward = forward().await;
    let answer = asked(&forward, &net(), asks.as_bytes(), "hello").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(answer.contains("X-Own: 1\r\n") && !answer.contains("Keep-Alive"), "{answer}");
    assert!(!answer.to_lowercase().contains(REFUSED_HEADER), "{answer}");
    let seen = seen.await.unwrap();
    assert!(seen.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains(&format!("Host: {to}\r\n")) && seen.contains("X-Kept: 2\r\n"), "{seen}");
    for hop in ["Proxy-", "X-Hop", "TE:", "Connection", "Via", "elsewhere"] {
        assert!(!seen.contains(hop), "{hop} in {seen}");
    }
    assert_eq!(forward.last_failure("127.0.0.1", to.port()), None);
}

#[tokio::test]
async fn bodies_in_chunks_pass_both_ways() {
    let (to, seen) = server(
        "0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    )
    .await;
    let asks = format!(
        "POST http://{to}/ HTTP/1.1\r\nHost: {to}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
    );
    let answer = asked(&forward().await, &net(), asks.as_bytes(), "0\r\n\r\n").await;
    assert!(answer.to_lowercase().contains("transfer-encoding: chunked\r\n"), "{answer}");
    assert!(answer.contains("hello") && answer.contains(" world"), "{answer}");
    let seen = seen.await.unwrap();
    assert!(seen.contains("abc") && seen.contains("defg"), "{seen}");
}

#[tokio::test]
async fn one_connection_to_a_target_serves_several_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    // Takes one connection, and no second.
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for body in ["one", "two"] {
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                assert!(stream.read_buf(&mut read).await.unwrap() > 0);
            }
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let ask = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let answer = asked(&forward().await, &net(), format!("{ask}{ask}").as_bytes(), "two").await;
    assert!(answer.contains("one") && answer.contains("two"), "{answer}");
    serving.await.unwrap();
}

#[tokio::test]
async fn connect_and_upgrades_become_tunnels() {
    let (to, seen) = server("ping", b"pong").await;
    let forward = forward().await;
    let asks = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nping");
    let answer = asked(&forward, &net(), asks.as_bytes(), "pong").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\npong"), "{answer}");
    assert_eq!(seen.await.unwrap(), "ping");
    assert_eq!(forward.target_connection("127.0.0.1", to.port()).unwrap().address, Some(to));

    let switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\npong";
    let (to, seen) = server("\r\n\r\n", switch).await;
    let asks = format!(
        "GET http://{to}/chat HTTP/1.1\r\nHost: {to}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n"
    );
    let answer = asked(&forward, &net(), asks.as_bytes(), "pong").await;
    assert!(answer.starts_with("HTTP/1.1 101 ") && answer.contains("websocket"), "{answer}");
    let seen = seen.await.unwrap();
    assert!(seen.contains("Upgrade: websocket\r\n"), "{seen}");
}

#[tokio::test]
async fn what_cannot_be_reached_is_refused_and_remembered() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (silent, _seen) = server("\r\n\r\n", b"").await;
    let (nonsense, _seen2) = server("\r\n\r\n", b"ICY 200 OK\r\n\r\n").await;
    let trust = TrustConfig { roots: Roots::None, ..TrustConfig::default() };
    let egress = EgressPolicy::parse(&[], &["10.0.0.0/8"]).unwrap();
    let net = Net::new(&NetConfig { trust, egress, ..NetConfig::default() }).unwrap();
    let blocked = BlockedHosts::parse(&["ads.example.com", "*.tracker.example"]).unwrap();
    let forward =
        ForwardProxy::bind(ForwardProxyConfig { blocked_hosts: blocked, ..ForwardProxyConfig::default() })
            .await
            .unwrap();
    let own = forward.address();
    for (host, port, status, kind) in [
        ("10.1.2.3", 80, "403", FailureKind::EgressDenied),
        ("169.254.169.254", 80, "403", FailureKind::EgressDenied),
        ("ads.example.com", 80, "403", FailureKind::PageUnloadable),
        ("A.Tracker.example", 80, "403", FailureKind::PageUnloadable),
        ("127.0.0.1", closed.port(), "502", FailureKind::ConnectRefused),
        ("127.0.0.1", own.port(), "403", FailureKind::EgressDenied),
    ] {
        for asks in [
            format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"),
            format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"),
        ] {
            let answer = asked(&forward, &net, asks.as_bytes(), "\r\n\r\n").await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{asks}{answer}");
            assert!(answer.contains(&format!("\r\n{REFUSED_HEADER}: ")), "{asks}{answer}");
            assert_eq!(forward.last_failure(host, port).unwrap().kind, kind, "{asks}{answer}");
        }
    }
    for (to, kind) in [(silent, FailureKind::NoResponse), (nonsense, FailureKind::ResponseInvalid)] {
        let asks = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
        let answer = asked(&forward, &net, asks.as_bytes(), "\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        assert_eq!(forward.last_failure("127.0.0.1", to.port()).unwrap().kind, kind);
    }
}

#[tokio::test]
async fn what_is_no_request_for_a_proxy_is_refused() {
    let huge = format!("GET http://127.0.0.1:1/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(200_000));
    let many = format!("GET http://127.0.0.1:1/ HTTP/1.1\r\n{}\r\n", "X: 1\r\n".repeat(300));
    for (asks, status) in [
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("GET https://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("nonsense\r\n\r\n", "400"),
        (huge.as_str(), "431"),
        (many.as_str(), "431"),
    ] {
        let answer = asked(&forward().await, &net(), asks.as_bytes(), "\r\n\r\n").await;
        let text: String = asks.chars().take(60).collect();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{text}: {answer}");
    }
}

#[tokio::test]
async fn a_client_that_is_slow_holds_nobody_else_up() {
    let (to, _seen) = server("\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let forward = forward().await;
    let mut slow = TcpStream::connect(forward.address()).await.unwrap();
    slow.write_all(b"GET http://").await.unwrap();
    let asks = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    assert!(asked(&forward, &net(), asks.as_bytes(), "\r\n\r\nok").await.contains("200"));
}

#[tokio::test]
async fn others_on_this_host_are_not_served() {
    let (to, _seen) = server("\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let asks = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let peers = AllowedClients::User(4_000_000_000);
    let forward =
        ForwardProxy::bind(ForwardProxyConfig { allowed_clients: peers, ..ForwardProxyConfig::default() })
            .await
            .unwrap();
    assert_eq!(asked(&forward, &net(), asks.as_bytes(), "\r\n\r\n").await, "");
}

async fn tracing() -> ForwardProxy {
    let rules = ForwardProxyConfig {
        trace: Some(TraceId::from_bits(0xFACE)),
        intercept_tls: Some(TlsOptions::default()),
        ..ForwardProxyConfig::default()
    };
    ForwardProxy::bind(rules).await.unwrap()
}

#[tokio::test]
async fn requests_to_the_named_site_carry_the_trace_and_others_do_not() {
    const PARENT: &str = "traceparent: 00-0000000000000000000000000000face-";
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for (site, own) in [(None, false), (Some("127.0.0.1"), true), (Some("localhost"), false)] {
        let forward = tracing().await;
        if let Some(site) = site {
            forward.set_trace_site(site);
            forward.set_trace_site("elsewhere.example");
        }
        let (to, seen) = server("\r\n\r\n", ok).await;
        let asks = format!("GET http://{to}/ HTTP/1.1\r\nHost: {to}\r\nTraceState: a=b\r\n\r\n");
        let answer = asked(&forward, &net(), asks.as_bytes(), "\r\n\r\nok").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        let seen = seen.await.unwrap();
        assert_eq!(
            (seen.contains(PARENT), seen.to_lowercase().contains("tracestate")),
            (own, !own),
            "{seen}"
        );
    }
}

#[tokio::test]
async fn a_tunnel_to_the_named_site_carries_the_trace_and_still_switches() {
    let forward = tracing().await;
    forward.set_trace_site("127.0.0.1");
    let switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\npong";
    let (to, seen) = server("\r\n\r\n", switch).await;
    let asks = format!(
        "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nGET /chat HTTP/1.1\r\nHost: {to}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    );
    let answer = asked(&forward, &net(), asks.as_bytes(), "pong").await;
    assert!(answer.contains("HTTP/1.1 101 ") && answer.ends_with("\r\n\r\npong"), "{answer}");
    let seen = seen.await.unwrap();
    assert!(seen.starts_with("GET /chat HTTP/1.1\r\n") && seen.contains("traceparent: 00-"), "{seen}");
    let ok = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end";
    let (to, seen) = server("\r\n\r\n", ok).await;
    let asks = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nGET / HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let answer = asked(&forward, &net(), asks.as_bytes(), "the end").await;
    assert!(answer.contains("until the end"), "{answer}");
    assert!(seen.await.unwrap().contains("traceparent: 00-"));
}

#[tokio::test]
async fn a_traced_tunnel_serves_several_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut seen = String::new();
        for body in ["one", "two"] {
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                assert!(stream.read_buf(&mut read).await.unwrap() > 0);
            }
            seen.push_str(&String::from_utf8_lossy(&read));
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        seen
    });
    let forward = tracing().await;
    forward.set_trace_site("127.0.0.1");
    let ask = format!("GET / HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let asks = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n{ask}{ask}");
    let answer = asked(&forward, &net(), asks.as_bytes(), "two").await;
    assert!(answer.contains("one") && answer.contains("two"), "{answer}");
    assert_eq!(serving.await.unwrap().matches("traceparent: 00-").count(), 2);
}
