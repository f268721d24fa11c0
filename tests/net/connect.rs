//! Connecting: refusals, black holes, address families, policy, and the fault of each failure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vigie::domain::{FailureKind, Fault, Phase, Status};
use vigie::net::{
    CONNECTION_ATTEMPT_DELAY, ConnectionTrace, EgressPolicy, Endpoint, SourceBinding, set_reset_on_close,
};

use crate::net::{long_deadline, net, net_with, within};
use crate::support::namespace::inside;

async fn listen(ip: &str, port: u16) -> TcpListener {
    TcpListener::bind((ip, port)).await.unwrap()
}

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// A port that accepts no more connections and stays silent, since its queue is full.
pub struct BlackHole {
    pub at: SocketAddr,
    _listener: Socket,
    _queued: Vec<TcpStream>,
}

pub async fn black_hole(ip: &str, port: u16) -> BlackHole {
    let listener =
        Socket::new(Domain::for_address((ip.parse::<IpAddr>().unwrap(), 0).into()), Type::STREAM, None)
            .unwrap();
    listener.bind(&SocketAddr::new(ip.parse().unwrap(), port).into()).unwrap();
    listener.listen(0).unwrap();
    let at = listener.local_addr().unwrap().as_socket().unwrap();
    let mut queued = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(at)).await {
        queued.push(stream.unwrap());
        assert!(queued.len() < 20, "the queue of a listener does not fill");
    }
    BlackHole { at, _listener: listener, _queued: queued }
}

#[tokio::test]
async fn a_listening_port_is_connected_and_its_phases_are_recorded() {
    for (ip, host) in
        [("127.0.0.1", "localhost"), ("::1", "[::1]"), ("::1", "::1"), ("127.0.0.1", "127.0.0.1")]
    {
        let listener = listen(ip, 0).await;
        let at = listener.local_addr().unwrap();
        let to = Endpoint::new(host, at.port());
        // In its own task, as in the agent: the future must be `Send`.
        let task = tokio::spawn(async move {
            let mut trace = ConnectionTrace::default();
            (net().connect(&to, long_deadline(), &mut trace).await, trace)
        });
        let (stream, trace) = task.await.unwrap();
        assert!(stream.unwrap().nodelay().unwrap(), "{host}");
        assert_eq!(trace.peer_address, Some(at), "{host}");
        assert!(trace.resolved_addresses.contains(&at.ip()), "{host}");
        assert!(trace.phases.micros(Phase::Resolve).is_some());
        assert!(trace.phases.micros(Phase::Connect).is_some());
        assert!(trace.phases.micros(Phase::Tls).is_none());
    }
}

#[tokio::test]
async fn a_closed_port_is_refused_by_the_target_over_both_families() {
    for ip in ["127.0.0.1", "::1"] {
        let at = listen(ip, 0).await.local_addr().unwrap();
        let mut trace = ConnectionTrace::default();
        let failure =
            net().connect(&Endpoint::new(ip, at.port()), long_deadline(), &mut trace).await.unwrap_err();
        assert_eq!((failure.phase, failure.kind), (Phase::Connect, FailureKind::ConnectRefused));
        assert!(failure.detail.contains(&at.to_string()), "{}", failure.detail);
        assert_eq!(
            (trace.peer_address, trace.resolved_addresses.as_slice()),
            (Some(at), [at.ip()].as_slice())
        );
        assert!(trace.phases.micros(Phase::Connect).is_some(), "the phase that failed has its time");
    }
}

#[tokio::test]
async fn a_pinned_address_is_used_without_resolving_the_name() {
    let listener = listen("127.0.0.3", 0).await;
    let mut to = Endpoint::new("no-such-name.invalid", listener.local_addr().unwrap().port());
    to.pinned_address = Some(Ipv4Addr::new(127, 0, 0, 3).into());
    let mut trace = ConnectionTrace::default();
    net().connect(&to, long_deadline(), &mut trace).await.unwrap();
    assert_eq!(trace.peer_address, Some(listener.local_addr().unwrap()));
}

#[tokio::test]
async fn the_next_address_is_tried_beside_a_silent_one() {
    let hole = black_hole("127.0.0.1", 0).await;
    let listener = listen("127.0.0.2", hole.at.port()).await;
    let mut trace = ConnectionTrace::default();
    let started = Instant::now();
    let order = ips(&["127.0.0.1", "127.0.0.2"]);
    let stream =
        net().connect_without_named_proxy(&order, hole.at.port(), long_deadline(), &mut trace).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), listener.local_addr().unwrap());
    assert_eq!(trace.peer_address, Some(listener.local_addr().unwrap()));
    assert!(
        started.elapsed() >= CONNECTION_ATTEMPT_DELAY && started.elapsed() < CONNECTION_ATTEMPT_DELAY * 8,
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn the_next_address_is_tried_at_once_after_a_refusal() {
    let listener = listen("127.0.0.4", 0).await;
    let port = listener.local_addr().unwrap().port();
    let order = ips(&["::1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    let started = Instant::now();
    let stream = net()
        .connect_without_named_proxy(&order, port, long_deadline(), &mut ConnectionTrace::default())
        .await
        .unwrap();
    assert_eq!(stream.peer_addr().unwrap().ip(), order[3]);
    assert!(started.elapsed() < CONNECTION_ATTEMPT_DELAY, "{:?}", started.elapsed());
}

#[tokio::test]
async fn silence_of_all_addresses_times_out_in_connect() {
    let hole = black_hole("127.0.0.1", 0).await;
    let (_second, _third) =
        (black_hole("127.0.0.2", hole.at.port()).await, black_hole("::1", hole.at.port()).await);
    let mut trace = ConnectionTrace::default();
    let order = ips(&["::1", "127.0.0.1", "127.0.0.2"]);
    let started = Instant::now();
    let failure =
        net().connect_without_named_proxy(&order, hole.at.port(), within(700), &mut trace).await.unwrap_err();
    assert_eq!((failure.phase, failure.kind), (Phase::Connect, FailureKind::TimedOut));
    assert_eq!(failure.status(), Status::TIMED_OUT);
    assert!(failure.detail.contains("127.0.0.2"), "every address is named: {}", failure.detail);
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    assert!(trace.phases.micros(Phase::Connect).unwrap() >= 690_000);
}

#[tokio::test]
async fn a_denied_address_is_not_dialled_and_is_an_own_fault() {
    let listener = listen("127.0.0.1", 0).await;
    let port = listener.local_addr().unwrap().port();
    let net = net_with(|config| config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap());
    for host in ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0", "64:ff9b::127.0.0.1"] {
        let failure = net
            .connect(&Endpoint::new(host, port), long_deadline(), &mut ConnectionTrace::default())
            .await
            .unwrap_err();
        assert_eq!((failure.kind, failure.fault), (FailureKind::EgressDenied, Fault::Vigie), "{host}");
        assert_eq!(failure.status(), Status::CANNOT_RUN);
        assert!(failure.detail.contains("`127.0.0.0/8`"), "{}", failure.detail);
    }
    let reachable = listen("::1", port).await;
    let order = ips(&["127.0.0.1", "::1"]);
    let stream = net
        .connect_without_named_proxy(&order, port, long_deadline(), &mut ConnectionTrace::default())
        .await
        .unwrap();
    assert_eq!(stream.peer_addr().unwrap(), reachable.local_addr().unwrap());
}

#[tokio::test]
async fn connections_leave_from_the_source_address_of_their_family() {
    let source = SourceBinding {
        ipv4: Some(Ipv4Addr::new(127, 0, 0, 9)),
        ipv6: Some(Ipv6Addr::LOCALHOST),
        interface: None,
    };
    let net = net_with(|config| config.source_binding = source);
    for (ip, from) in [("127.0.0.1", "127.0.0.9"), ("::1", "::1")] {
        let listener = listen(ip, 0).await;
        let to = Endpoint::new(ip, listener.local_addr().unwrap().port());
        let _stream = net.connect(&to, long_deadline(), &mut ConnectionTrace::default()).await.unwrap();
        let (_, peer) = listener.accept().await.unwrap();
        assert_eq!(peer.ip(), from.parse::<IpAddr>().unwrap());
    }
}

#[tokio::test]
async fn a_missing_source_address_or_route_is_an_own_fault() {
    let elsewhere = SourceBinding { ipv4: Some(Ipv4Addr::new(192, 0, 2, 1)), ..SourceBinding::default() };
    let no_interface =
        SourceBinding { interface: Some("no-such-if0".to_owned()), ..SourceBinding::default() };
    // The kernel sends no packet from this source address to that target.
    let loopback = SourceBinding { ipv4: Some(Ipv4Addr::LOCALHOST), ..SourceBinding::default() };
    let cases = [
        (elsewhere, "127.0.0.1", FailureKind::NoSourceAddress),
        (no_interface, "127.0.0.1", FailureKind::NoSourceAddress),
        (loopback, "192.0.2.1", FailureKind::NoRoute),
    ];
    for (source, ip, kind) in cases {
        let net = net_with(|config| config.source_binding = source.clone());
        let failure = net
            .connect(&Endpoint::new(ip, 9), within(3000), &mut ConnectionTrace::default())
            .await
            .unwrap_err();
        assert_eq!((failure.kind, failure.fault), (kind, Fault::Vigie), "{source:?}: {failure}");
        assert_eq!(failure.status(), Status::INTERNAL);
    }
}

#[tokio::test]
async fn a_target_fault_wins_over_an_own_fault() {
    let source = SourceBinding { ipv6: Some("2001:db8::1".parse().unwrap()), ..SourceBinding::default() };
    let net = net_with(|config| config.source_binding = source);
    let port = listen("127.0.0.1", 0).await.local_addr().unwrap().port();
    let failure = net
        .connect_without_named_proxy(
            &ips(&["::1", "127.0.0.1"]),
            port,
            long_deadline(),
            &mut ConnectionTrace::default(),
        )
        .await
        .unwrap_err();
    assert_eq!((failure.kind, failure.fault), (FailureKind::ConnectRefused, Fault::Target));
    assert!(failure.detail.contains("[::1]"), "the other one is told too: {}", failure.detail);
}

#[tokio::test]
async fn an_icmp_error_is_a_network_fault() {
    let unreachable = std::io::Error::from_raw_os_error(nix::errno::Errno::EHOSTUNREACH as i32);
    let at = "127.0.0.1:80".parse().unwrap();
    let failure = net().socket_failure(at, &unreachable);
    assert_eq!((failure.kind, failure.fault), (FailureKind::Unreachable, Fault::Network));
}

#[tokio::test]
async fn a_missing_route_is_an_own_fault() {
    if !inside("net::connect::a_missing_route_is_an_own_fault", "ip link set lo up", "") {
        return;
    }
    for ip in ["192.0.2.1", "2001:db8::1"] {
        let failure = net()
            .connect(&Endpoint::new(ip, 9), long_deadline(), &mut ConnectionTrace::default())
            .await
            .unwrap_err();
        assert_eq!((failure.kind, failure.fault), (FailureKind::NoRoute, Fault::Vigie), "{failure}");
        assert_eq!(failure.status(), Status::INTERNAL);
    }
}

#[tokio::test]
async fn closing_at_once_resets_and_leaves_no_time_wait() {
    // In a network of its own: beside other tests, one of them may get the port that is free again.
    if !inside("net::connect::closing_at_once_resets_and_leaves_no_time_wait", "ip link set lo up", "") {
        return;
    }
    let listener = listen("127.0.0.1", 0).await;
    let at = listener.local_addr().unwrap();
    let stream = net()
        .connect(&Endpoint::new("127.0.0.1", at.port()), long_deadline(), &mut ConnectionTrace::default())
        .await
        .unwrap();
    let from = stream.local_addr().unwrap();
    let (mut peer, _) = listener.accept().await.unwrap();
    set_reset_on_close(&stream);
    drop(stream);
    let error = peer.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    // In TIME_WAIT, the same pair of addresses could not be connected again.
    let second = socket2::Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    second.bind(&from.into()).unwrap();
    second.connect(&at.into()).unwrap();
    peer.shutdown().await.ok();
}
