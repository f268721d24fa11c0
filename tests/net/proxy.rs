//! Connections through proxies: what it is asked, and whose fault its answers are.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use vigie::domain::{Failure, FailureKind, Fault};
use vigie::net::{ConnectTrace, EgressPolicy, Endpoint, Net, ProxyKind, UpstreamProxy as Way};

use crate::net::{net, net_with, soon, within};

/// Gives everybody the same answer, in pieces, and closes; keeps what was asked.
struct Proxy {
    at: Endpoint,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn answering(pieces: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut request, mut byte) = (Vec::new(), [0]);
                while !request.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
                    request.push(byte[0]);
                }
                kept.lock().unwrap().push(String::from_utf8(request).unwrap());
                for piece in pieces {
                    stream.write_all(piece.as_bytes()).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        Self { at, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// An address that only documentation uses (RFC 5737): nothing but a proxy can reach it.
pub fn far() -> Endpoint {
    Endpoint::new("192.0.2.7", 25)
}

async fn failure(net: Net) -> Failure {
    net.connect(&far(), soon(), &mut ConnectTrace::default()).await.unwrap_err()
}

#[tokio::test]
async fn a_connection_leaves_through_the_proxy_and_what_the_target_says_first_is_not_lost() {
    for pieces in [
        &["HTTP/1.1 200 Connection established\r\n\r\n220 ready"][..],
        &["HTTP/1.0 200 OK\r\nVia: x\r", "\n\r\n2", "20 ready"],
    ] {
        let proxy = Proxy::answering(pieces).await;
        let mut trace = ConnectTrace::default();
        let net = net().with_default_proxy(Some(proxy.at.clone()));
        let mut stream = net.connect(&far(), soon(), &mut trace).await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        assert_eq!(reply, "220 ready");
        assert_eq!(proxy.asked(), ["CONNECT 192.0.2.7:25 HTTP/1.1\r\nHost: 192.0.2.7:25\r\n\r\n"]);
        assert_eq!(trace.address, Some("192.0.2.7:25".parse().unwrap()), "the target, not the proxy");
    }
}

#[tokio::test]
async fn a_proxy_that_asks_for_a_login_gets_it_and_nobody_else_hears_it() {
    let proxy = Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await;
    let way = Way::from(proxy.at.clone()).with_credentials("watch", "s3cret: ü");
    let text = format!("{way} {way:?} {:?}", net().with_default_proxy(Some(way.clone())));
    net().with_default_proxy(Some(way)).connect(&far(), soon(), &mut ConnectTrace::default()).await.unwrap();
    let header = "Proxy-Authorization: Basic d2F0Y2g6czNjcmV0OiDDvA==\r\n";
    let wanted = format!("CONNECT 192.0.2.7:25 HTTP/1.1\r\nHost: 192.0.2.7:25\r\n{header}\r\n");
    assert_eq!(proxy.asked(), [wanted]);
    assert!(!text.contains("s3cret") && !text.contains("d2F0Y2g6"), "{text}");

    let proxy = Proxy::answering(&["HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"]).await;
    let refused = Way::from(proxy.at.clone()).with_credentials("watch", "s3cret");
    let failure = failure(net().with_default_proxy(Some(refused))).await;
    assert!(failure.detail.ends_with("it refused the login"), "{failure}");
    assert!(!format!("{failure:?}").contains("s3cret") && !format!("{failure:?}").contains("watch"));
}

#[tokio::test]
async fn a_proxy_that_nobody_runs_is_ours() {
    let gone = crate::support::closed::ClosedPort::new();
    let port = gone.at.port();
    let failure = failure(net().with_default_proxy(Some(Endpoint::new("127.0.0.1", port)))).await;
    assert_eq!((failure.kind, failure.fault), (FailureKind::NotConfigured, Fault::Ours));
    assert!(failure.detail.contains(&format!("the proxy 127.0.0.1:{port}")), "{failure}");
}

#[tokio::test]
async fn loopback_goes_without_the_proxy_and_denied_targets_go_nowhere() {
    let proxy = Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port());
    let through = net().with_default_proxy(Some(proxy.at.clone()));
    through.connect(&near, soon(), &mut ConnectTrace::default()).await.unwrap();
    let denied = net_with(|config| {
        config.egress = EgressPolicy::parse(&[], &["192.0.2.0/24"]).unwrap();
    });
    let failure = failure(denied.with_default_proxy(Some(proxy.at.clone()))).await;
    assert_eq!(failure.kind, FailureKind::EgressDenied);
    assert!(proxy.asked().is_empty());
}

#[tokio::test]
async fn what_an_endpoint_names_beats_the_proxy_of_the_location() {
    let (usual, named) = (
        Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
        Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
    );
    let net =
        net().with_default_proxy(Some(usual.at.clone())).with_proxies([(7, named.at.clone().into())].into());
    // Even to loopback, where nobody listens: the wish was explicit.
    for (host, at) in [("192.0.2.7", "192.0.2.7:25"), ("127.0.0.1", "127.0.0.1:25")] {
        let to = Endpoint { proxy_id: Some(7), ..Endpoint::new(host, 25) };
        net.connect(&to, soon(), &mut ConnectTrace::default()).await.unwrap();
        assert!(named.asked().last().unwrap().starts_with(&format!("CONNECT {at} ")), "{:?}", named.asked());
    }
    assert!(usual.asked().is_empty());
    let nobody = Endpoint { proxy_id: Some(8), ..far() };
    let failure = net.connect(&nobody, soon(), &mut ConnectTrace::default()).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.status()),
        (FailureKind::NotConfigured, vigie::domain::Status::CANNOT_RUN)
    );
    assert!(failure.detail.contains("have no proxy `8`"), "{failure}");
}

#[tokio::test]
async fn named_proxies_come_and_go_while_connections_are_made() {
    let (old, new) = (
        Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
        Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await,
    );
    let net = net().with_proxies([(7, old.at.clone().into())].into());
    let to = Endpoint { proxy_id: Some(7), ..far() };
    for (proxies, asked) in [(None, (1, 0)), (Some(new.at.clone()), (1, 1))] {
        if let Some(at) = proxies {
            net.set_proxies([(7, at.into())].into());
        }
        net.connect(&to, soon(), &mut ConnectTrace::default()).await.unwrap();
        assert_eq!((old.asked().len(), new.asked().len()), asked);
    }
    net.set_proxies(std::collections::BTreeMap::new());
    let failure = net.connect(&to, soon(), &mut ConnectTrace::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotConfigured, "{failure}");
}

#[tokio::test]
async fn the_egress_policy_holds_for_the_proxy_as_well() {
    let proxy = Proxy::answering(&["HTTP/1.1 200 OK\r\n\r\n"]).await;
    let denied = net_with(|config| config.egress = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap());
    let failure = failure(denied.with_default_proxy(Some(proxy.at.clone()))).await;
    assert_eq!((failure.kind, failure.fault), (FailureKind::EgressDenied, Fault::Ours));
    assert!(failure.detail.starts_with("the proxy 127.0.0.1:"), "{failure}");
    assert!(proxy.asked().is_empty());
}

#[tokio::test]
async fn a_proxy_that_is_away_is_ours_however_short_the_deadline() {
    // Nobody accepts: the queue is full, and further connections hang.
    let hole = crate::net::connect::black_hole("127.0.0.1", 0).await;
    for kind in [ProxyKind::Http, ProxyKind::Socks5] {
        let net = net().with_default_proxy(Some(Way::new(kind, Endpoint::new("127.0.0.1", hole.at.port()))));
        let failure = net.connect(&far(), within(600), &mut ConnectTrace::default()).await.unwrap_err();
        assert_eq!((failure.kind, failure.fault), (FailureKind::NotConfigured, Fault::Ours), "{failure}");
    }
    let nameless = net().with_default_proxy(Some(Endpoint::new("proxy.invalid", 3128)));
    let failure = nameless.connect(&far(), within(3_000), &mut ConnectTrace::default()).await.unwrap_err();
    assert_eq!((failure.kind, failure.fault), (FailureKind::NotConfigured, Fault::Ours), "{failure}");
}
