//! Resolution of names, with name servers that reply correctly, wrongly or not at all.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;
use vigie::domain::{Failure, FailureKind, Fault, Phase, Status};
use vigie::net::{AddressFamily, ConnectionTrace, Deadline, Endpoint, NameServers, Net};

use crate::net::{long_deadline, net, net_with, within};
use crate::support::name_server::{NameServer, Reply, v4, v6};

async fn net_with_server(server: &NameServer) -> Net {
    let at = server.at;
    net_with(|config| config.name_servers = NameServers::Explicit(vec![at]))
}

async fn resolve(
    net: &Net,
    host: &str,
    family: AddressFamily,
    deadline: Deadline,
) -> Result<Vec<IpAddr>, Failure> {
    let mut trace = ConnectionTrace::default();
    let to = Endpoint { address_family: family, ..Endpoint::new(host, 80) };
    let found = net.resolve(&to, deadline, &mut trace).await;
    assert!(trace.phases.micros(Phase::Resolve).is_some(), "the phase always has its time");
    assert_eq!(found.clone().unwrap_or_default(), trace.resolved_addresses);
    found
}

fn script(name: &str, kind: RecordType) -> Reply {
    let six = kind == RecordType::AAAA;
    match (name, six) {
        ("both.test", true) => Reply::Records(vec![v6("::1"), v6("::2")]),
        ("both.test", false) => Reply::Records(vec![v4("127.0.0.1"), v4("127.0.0.2"), v4("127.0.0.3")]),
        ("four.test" | "half-broken.test" | "half-silent.test", false) => {
            Reply::Records(vec![v4("127.0.0.1")])
        }
        ("six.test", true) => Reply::Records(vec![v6("::1")]),
        ("half-broken.test" | "broken.test", _) => Reply::Code(ResponseCode::ServFail),
        ("refused.test", _) => Reply::Code(ResponseCode::Refused),
        ("half-silent.test" | "silent.test", _) => Reply::Silence,
        ("wrong-id.test", _) => Reply::WrongId,
        ("long.test", false) => {
            Reply::TruncatedOverUdp((1..=60).map(|n| v4(&format!("127.0.1.{n}"))).collect())
        }
        ("" | "four.test" | "six.test" | "empty.test" | "long.test", _) => Reply::Records(Vec::new()),
        _ => Reply::Code(ResponseCode::NXDomain),
    }
}

#[tokio::test]
async fn addresses_are_ordered_by_the_requested_family() {
    let server = NameServer::start("127.0.0.1", script).await;
    let net = net_with_server(&server).await;
    let cases = [
        ("both.test", AddressFamily::Any, "::1 127.0.0.1 ::2 127.0.0.2 127.0.0.3"),
        ("both.test", AddressFamily::V6Preferred, "::1 ::2 127.0.0.1 127.0.0.2 127.0.0.3"),
        ("both.test", AddressFamily::V4Only, "127.0.0.1 127.0.0.2 127.0.0.3"),
        ("both.test", AddressFamily::V6Only, "::1 ::2"),
        ("four.test", AddressFamily::Any, "127.0.0.1"),
        ("six.test", AddressFamily::V6Preferred, "::1"),
        ("half-broken.test", AddressFamily::Any, "127.0.0.1"),
        ("half-silent.test", AddressFamily::Any, "127.0.0.1"),
        ("localhost", AddressFamily::V4Only, "127.0.0.1"),
        ("localhost", AddressFamily::V6Only, "::1"),
        ("127.0.0.7", AddressFamily::Any, "127.0.0.7"),
        ("::7", AddressFamily::V6Only, "::7"),
    ];
    for (host, family, expected) in cases {
        let found = resolve(&net, host, family, long_deadline()).await.unwrap();
        let found = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(found, expected, "{host} {family:?}");
    }
    assert_eq!(
        resolve(&net, "long.test", AddressFamily::Any, long_deadline()).await.unwrap().len(),
        60,
        "asked again over TCP"
    );
}

#[tokio::test]
async fn each_resolution_failure_has_its_kind() {
    let server = NameServer::start("::1", script).await;
    let net = net_with_server(&server).await;
    let cases = [
        ("gone.test", AddressFamily::Any, FailureKind::NameNotFound),
        ("bad..name", AddressFamily::Any, FailureKind::NameNotFound),
        ("empty.test", AddressFamily::Any, FailureKind::NameWithoutAddress),
        ("four.test", AddressFamily::V6Only, FailureKind::NameWithoutAddress),
        ("six.test", AddressFamily::V4Only, FailureKind::NameWithoutAddress),
        ("127.0.0.1", AddressFamily::V6Only, FailureKind::NameWithoutAddress),
        ("broken.test", AddressFamily::Any, FailureKind::ResolverError),
        ("refused.test", AddressFamily::V4Only, FailureKind::ResolverError),
        ("silent.test", AddressFamily::Any, FailureKind::NameLookupUnanswered),
        ("wrong-id.test", AddressFamily::V4Only, FailureKind::NameLookupUnanswered),
    ];
    for (host, family, kind) in cases {
        let started = Instant::now();
        let failure = resolve(&net, host, family, within(1500)).await.unwrap_err();
        assert_eq!((failure.phase, failure.kind), (Phase::Resolve, kind), "{host}: {failure}");
        assert_eq!((failure.fault, failure.status()), (Fault::Target, Status::UNRESOLVED), "{host}");
        assert!(failure.detail.contains(host), "{failure}");
        assert!(started.elapsed() < Duration::from_millis(1900), "{host}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_silent_resolver_is_an_own_fault() {
    let silent = NameServer::start("127.0.0.1", |_, _| Reply::Silence).await;
    let net = net_with_server(&silent).await;
    let started = Instant::now();
    let failure = resolve(&net, "a.test", AddressFamily::Any, within(1200)).await.unwrap_err();
    assert_eq!((failure.kind, failure.fault), (FailureKind::ResolverUnresponsive, Fault::Vigie), "{failure}");
    assert_eq!(failure.status(), Status::INTERNAL);
    assert!(silent.questions() >= 3, "two families and the control name were asked for");
    assert!(started.elapsed() < Duration::from_millis(1600), "{:?}", started.elapsed());

    // A connected socket reserves its port, and is closed for everyone but its peer.
    let connected = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    connected.connect("127.0.0.1:9").unwrap();
    let closed = connected.local_addr().unwrap();
    let net = net_with(|config| config.name_servers = NameServers::Explicit(vec![closed]));
    let failure = resolve(&net, "a.test", AddressFamily::Any, within(1200)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ResolverUnresponsive, "{failure}");

    let net = net_with(|config| config.name_servers = NameServers::Explicit(Vec::new()));
    let failure = resolve(&net, "a.test", AddressFamily::Any, long_deadline()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ResolverUnresponsive, "{failure}");
}

#[tokio::test]
async fn the_control_name_comes_from_the_configuration() {
    let server = NameServer::start("127.0.0.1", |name, _| match name {
        "control.test" => Reply::Code(ResponseCode::NXDomain),
        _ => Reply::Silence,
    })
    .await;
    let at = server.at;
    let net = net_with(|config| {
        config.name_servers = NameServers::Explicit(vec![at]);
        config.control_name = "control.test.".to_owned();
    });
    let failure = resolve(&net, "a.test", AddressFamily::Any, within(1200)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NameLookupUnanswered, "any answer shows that it lives: {failure}");
}

#[tokio::test]
async fn resolutions_are_not_cached() {
    let server = NameServer::start("127.0.0.1", script).await;
    let net = net_with_server(&server).await;
    for round in 1..=3 {
        resolve(&net, "four.test", AddressFamily::V4Only, long_deadline()).await.unwrap();
        assert_eq!(server.questions(), round);
    }
}

#[tokio::test]
async fn a_second_name_server_replaces_a_silent_one() {
    let (dead, alive) = (
        NameServer::start("127.0.0.1", |_, _| Reply::Silence).await,
        NameServer::start("127.0.0.1", script).await,
    );
    let servers = vec![dead.at, alive.at];
    let net = net_with(|config| config.name_servers = NameServers::Explicit(servers));
    assert_eq!(resolve(&net, "four.test", AddressFamily::Any, within(3000)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn questions_leave_from_the_source_address_and_from_random_ports() {
    let server = NameServer::start("127.0.0.1", script).await;
    let at = server.at;
    let net = net_with(|config| {
        config.name_servers = NameServers::Explicit(vec![at]);
        config.source_binding.ipv4 = Some(Ipv4Addr::new(127, 0, 0, 9));
    });
    for _ in 0..4 {
        resolve(&net, "four.test", AddressFamily::V4Only, long_deadline()).await.unwrap();
    }
    let from = server.client_addresses();
    assert!(from.iter().all(|from| from.ip() == Ipv4Addr::new(127, 0, 0, 9)), "{from:?}");
    let ports: std::collections::BTreeSet<u16> = from.iter().map(std::net::SocketAddr::port).collect();
    assert!(ports.len() > 1, "{from:?}");
}

#[tokio::test]
async fn a_system_name_needs_no_name_server() {
    assert!(!resolve(&net(), "localhost", AddressFamily::Any, long_deadline()).await.unwrap().is_empty());
}
