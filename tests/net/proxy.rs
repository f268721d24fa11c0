//! Connections through proxies: their requests, and the fault of each response.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use vigie::domain::{Failure, FailureKind, Fault};
use vigie::net::{ConnectionTrace, EgressPolicy, Endpoint, Net, ProxyProtocol, UpstreamProxy};

use crate::net::{long_deadline, net, net_with, within};

/// A proxy that sends the same response to every client, in chunks, closes, and records the requests.
struct Proxy {
    at: Endpoint,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn responding_with(chunks: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut request, mut byte) = (Vec::new(), [0]);
                while !request.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
                    request.push(byte[0]);
                }
                log.lock().unwrap().push(String::from_utf8(request).unwrap());
                for chunk in chunks {
                    stream.write_all(chunk.as_bytes()).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        Self { at, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Returns an address for documentation (RFC 5737), which only a proxy can reach.
pub fn remote_target() -> Endpoint {
    Endpoint::new("192.0.2.7", 25)
}

async fn failure(net: Net) -> Failure {
    net.connect(&remote_target(), long_deadline(), &mut ConnectionTrace::default()).await.unwrap_err()
}

#[tokio::test]
async fn connections_use_the_proxy_and_keep_early_bytes_of_the_target() {
    for chunks in [
        &["HTTP/1.1 200 Connection established\r\n\r\n220 ready"][..],
        &["HTTP/1.0 200 OK\r\nVia: x\r", "\n\r\n2", "20 ready"],
    ] {
        let proxy = Proxy::responding_with(chunks).await;
        let mut trace = ConnectionTrace::default();
        let net = net().with_default_proxy(Some(proxy.at.clone()));
        let mut stream = net.connect(&remote_target(), long_deadline(), &mut trace).await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        assert_eq!(reply, "220 ready");
        assert_eq!(proxy.requests(), ["CONNECT 192.0.2.7:25 HTTP/1.1\r\nHost: 192.0.2.7:25\r\n\r\n"]);
        assert_eq!(trace.peer_address, Some("192.0.2.7:25".parse().unwrap()), "the target, not the proxy");
    }
}

#[tokio::test]
async fn credentials_are_sent_to_the_proxy_only() {
    let proxy = Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await;
    let upstream = UpstreamProxy::from(proxy.at.clone()).with_credentials("watch", "s3cret: ü");
    let text = format!("{upstream} {upstream:?} {:?}", net().with_default_proxy(Some(upstream.clone())));
    net()
        .with_default_proxy(Some(upstream))
        .connect(&remote_target(), long_deadline(), &mut ConnectionTrace::default())
        .await
        .unwrap();
    let header = "Proxy-Authorization: Basic d2F0Y2g6czNjcmV0OiDDvA==\r\n";
    let expected = format!("CONNECT 192.0.2.7:25 HTTP/1.1\r\nHost: 192.0.2.7:25\r\n{header}\r\n");
    assert_eq!(proxy.requests(), [expected]);
    assert!(!text.contains("s3cret") && !text.contains("d2F0Y2g6"), "{text}");

    let proxy = Proxy::responding_with(&["HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"]).await;
    let with_login = UpstreamProxy::from(proxy.at.clone()).with_credentials("watch", "s3cret");
    let failure = failure(net().with_default_proxy(Some(with_login))).await;
    assert!(failure.detail.ends_with("it refused the login"), "{failure}");
    assert!(!format!("{failure:?}").contains("s3cret") && !format!("{failure:?}").contains("watch"));
}

#[tokio::test]
async fn a_closed_proxy_port_is_an_own_fault() {
    let closed = crate::support::closed::ClosedPort::new();
    let port = closed.at.port();
    let failure = failure(net().with_default_proxy(Some(Endpoint::new("127.0.0.1", port)))).await;
    assert_eq!((failure.kind, failure.fault), (FailureKind::NotConfigured, Fault::Vigie));
    assert!(failure.detail.contains(&format!("the proxy 127.0.0.1:{port}")), "{failure}");
}

#[tokio::test]
async fn loopback_bypasses_the_proxy_and_denied_targets_are_refused() {
    let proxy = Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let local = Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port());
    let through = net().with_default_proxy(Some(proxy.at.clone()));
    through.connect(&local, long_deadline(), &mut ConnectionTrace::default()).await.unwrap();
    let denied = net_with(|config| {
        config.egress_policy = EgressPolicy::parse(&[], &["192.0.2.0/24"]).unwrap();
    });
    let failure = failure(denied.with_default_proxy(Some(proxy.at.clone()))).await;
    assert_eq!(failure.kind, FailureKind::EgressDenied);
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
async fn the_proxy_of_the_endpoint_overrides_the_default_proxy() {
    let (default, named) = (
        Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
        Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
    );
    let net = net()
        .with_default_proxy(Some(default.at.clone()))
        .with_proxies([(7, named.at.clone().into())].into());
    // The explicit proxy is used even for loopback, where the port is closed.
    for (host, at) in [("192.0.2.7", "192.0.2.7:25"), ("127.0.0.1", "127.0.0.1:25")] {
        let to = Endpoint { proxy_id: Some(7), ..Endpoint::new(host, 25) };
        net.connect(&to, long_deadline(), &mut ConnectionTrace::default()).await.unwrap();
        assert!(
            named.requests().last().unwrap().starts_with(&format!("CONNECT {at} ")),
            "{:?}",
            named.requests()
        );
    }
    assert!(default.requests().is_empty());
    let unknown = Endpoint { proxy_id: Some(8), ..remote_target() };
    let failure = net.connect(&unknown, long_deadline(), &mut ConnectionTrace::default()).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.status()),
        (FailureKind::NotConfigured, vigie::domain::Status::CANNOT_RUN)
    );
    assert!(failure.detail.contains("have no proxy `8`"), "{failure}");
}

#[tokio::test]
async fn named_proxies_can_change_at_runtime() {
    let (old, new) = (
        Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
        Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
    );
    let net = net().with_proxies([(7, old.at.clone().into())].into());
    let to = Endpoint { proxy_id: Some(7), ..remote_target() };
    for (proxies, requests) in [(None, (1, 0)), (Some(new.at.clone()), (1, 1))] {
        if let Some(at) = proxies {
            net.set_proxies([(7, at.into())].into());
        }
        net.connect(&to, long_deadline(), &mut ConnectionTrace::default()).await.unwrap();
        assert_eq!((old.requests().len(), new.requests().len()), requests);
    }
    net.set_proxies(std::collections::BTreeMap::new());
    let failure = net.connect(&to, long_deadline(), &mut ConnectionTrace::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotConfigured, "{failure}");
}

#[tokio::test]
async fn the_egress_policy_applies_to_the_proxy() {
    let proxy = Proxy::responding_with(&["HTTP/1.1 200 OK\r\n\r\n"]).await;
    let denied =
        net_with(|config| config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap());
    let failure = failure(denied.with_default_proxy(Some(proxy.at.clone()))).await;
    assert_eq!((failure.kind, failure.fault), (FailureKind::EgressDenied, Fault::Vigie));
    assert!(failure.detail.starts_with("the proxy 127.0.0.1:"), "{failure}");
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
async fn an_unreachable_proxy_is_an_own_fault_even_at_a_short_deadline() {
    // The queue of the listener is full, so that further connections hang.
    let hole = crate::net::connect::black_hole("127.0.0.1", 0).await;
    for kind in [ProxyProtocol::Http, ProxyProtocol::Socks5] {
        let net = net()
            .with_default_proxy(Some(UpstreamProxy::new(kind, Endpoint::new("127.0.0.1", hole.at.port()))));
        let failure =
            net.connect(&remote_target(), within(600), &mut ConnectionTrace::default()).await.unwrap_err();
        assert_eq!((failure.kind, failure.fault), (FailureKind::NotConfigured, Fault::Vigie), "{failure}");
    }
    let nameless = net().with_default_proxy(Some(Endpoint::new("proxy.invalid", 3128)));
    let failure =
        nameless.connect(&remote_target(), within(3_000), &mut ConnectionTrace::default()).await.unwrap_err();
    assert_eq!((failure.kind, failure.fault), (FailureKind::NotConfigured, Fault::Vigie), "{failure}");
}
