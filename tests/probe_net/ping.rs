//! `ping` over loopback, and in network namespaces that restrict sockets or lose packets.

use std::time::Duration;

use hickory_proto::rr::RecordType;
use serde_json::json;
use vigie::domain::{FailureKind, Fault, MonitorType, Phase, Status};
use vigie::net::{EchoResult, EgressPolicy, NameServers};

use crate::probe_net::{TIMEOUT, attempt, failure_kind, net, net_with};
use crate::support::name_server::{NameServer, Reply, v4, v6};
use crate::support::namespace::inside;

const QUICK: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_host_that_replies_passes_over_both_families() {
    let net = net();
    for host in ["127.0.0.1", "::1", "localhost"] {
        let started = std::time::Instant::now();
        let observation = attempt(&net, MonitorType::Ping, json!({"hostname": host}), QUICK).await;
        assert_eq!(observation.failure, None, "{host}");
        let facts = observation.facts.ping.unwrap();
        assert_eq!((facts.requests_sent, facts.replies_received), (5, 5), "{host}");
        assert!(facts.loss_percent.abs() < f64::EPSILON);
        assert!(facts.rtt_min_us <= facts.rtt_avg_us && facts.rtt_avg_us <= facts.rtt_max_us);
        assert!(facts.rtt_min_us.is_some() && facts.rtt_stddev_us.is_some());
        assert!(facts.socket_type == "raw" || facts.socket_type == "dgram");
        let mean = Duration::from_micros(facts.rtt_avg_us.unwrap());
        let is_mean = |duration: Duration| duration.abs_diff(mean) <= Duration::from_micros(2);
        assert!(is_mean(observation.duration), "{:?} is not {mean:?}", observation.duration);
        assert!(is_mean(observation.phases.duration(Phase::Echo).unwrap()));
        assert_eq!(observation.phases.micros(Phase::Connect), None);
        // The pauses between the requests are not told, but kept.
        let elapsed = started.elapsed();
        assert!(elapsed >= Duration::from_millis(700), "spread over the timeout: {elapsed:?}");
    }
}

#[tokio::test]
async fn count_and_size_are_those_of_the_monitor() {
    let net = net();
    for (count, size) in [(1, 8), (3, 1400), (2, 20_000)] {
        let fields = json!({"hostname": "127.0.0.1", "ping_count": count, "ping_size": size});
        let observation = attempt(&net, MonitorType::Ping, fields, QUICK).await;
        assert_eq!(observation.failure, None);
        let facts = observation.facts.ping.unwrap();
        assert_eq!((facts.requests_sent, facts.replies_received), (count, count));
    }
}

#[tokio::test]
async fn a_burst_over_one_socket_loses_nothing() {
    let net = net();
    for ip in ["127.0.0.1", "::1"] {
        let ip = ip.parse().unwrap();
        let socket = net.echo_socket(ip).await.unwrap();
        let mut waits = Vec::new();
        for _ in 0..1000 {
            waits.push(socket.send(ip, 56).await.unwrap());
        }
        for wait in waits {
            let reply = tokio::time::timeout(TIMEOUT, wait.echo_result()).await.expect("no reply was lost");
            assert!(matches!(reply, Some(EchoResult::Reply(_))));
        }
    }
}

#[tokio::test]
async fn concurrent_pings_of_one_host_keep_their_replies_apart() {
    let net = net();
    let checks = (0..50).map(|_| attempt(&net, MonitorType::Ping, json!({"hostname": "127.0.0.1"}), QUICK));
    for observation in futures::future::join_all(checks).await {
        assert_eq!(observation.facts.ping.unwrap().replies_received, 5);
    }
}

#[tokio::test]
async fn a_denied_address_is_not_pinged() {
    let strict =
        net_with(|config| config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap());
    let observation = attempt(&strict, MonitorType::Ping, json!({"hostname": "127.0.0.1"}), QUICK).await;
    assert_eq!((failure_kind(&observation), observation.facts.ping), (Some(FailureKind::EgressDenied), None));
}

#[tokio::test]
async fn missing_replies_count_as_loss_against_the_threshold() {
    // Addresses of loopback whose echo requests get no reply.
    let setup = "ip link set lo up; ip route add local 192.0.2.0/24 dev lo; \
                 sysctl -qw net.ipv4.icmp_echo_ignore_all=1";
    if !inside("probe_net::ping::missing_replies_count_as_loss_against_the_threshold", setup, "") {
        return;
    }
    let net = net();
    for threshold in [100, 1] {
        let fields = json!({"hostname": "192.0.2.1", "ping_count": 2, "loss_threshold": threshold});
        let observation = attempt(&net, MonitorType::Ping, fields, QUICK).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.status()), (FailureKind::PingLossTooHigh, Status::PING_FAILED));
        assert!(failure.detail.contains("2 of 2"), "{failure}");
        let facts = observation.facts.ping.unwrap();
        assert_eq!((facts.requests_sent, facts.replies_received, facts.rtt_avg_us), (2, 0, None));
    }
}

#[tokio::test]
async fn the_unprivileged_socket_is_used_where_the_host_permits_it() {
    let setup = "ip link set lo up; sysctl -qw net.ipv4.ping_group_range='0 0'";
    if !inside(
        "probe_net::ping::the_unprivileged_socket_is_used_where_the_host_permits_it",
        setup,
        "setpriv --bounding-set=-net_raw",
    ) {
        return;
    }
    let net = net();
    for host in ["127.0.0.1", "::1"] {
        let observation = attempt(&net, MonitorType::Ping, json!({"hostname": host}), QUICK).await;
        assert_eq!(observation.failure, None, "{host}");
        assert_eq!(observation.facts.ping.unwrap().socket_type, "dgram");
    }
}

#[tokio::test]
async fn a_missing_permission_names_its_remedies() {
    if !inside(
        "probe_net::ping::a_missing_permission_names_its_remedies",
        "ip link set lo up",
        "setpriv --bounding-set=-net_raw",
    ) {
        return;
    }
    let observation = attempt(&net(), MonitorType::Ping, json!({"hostname": "127.0.0.1"}), QUICK).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.fault), (FailureKind::NoPermission, Fault::Vigie));
    assert_eq!(failure.status(), Status::CANNOT_RUN);
    for text in ["net.ipv4.ping_group_range", "CAP_NET_RAW"] {
        assert!(failure.detail.contains(text), "{failure}");
    }
}

#[tokio::test]
async fn a_missing_route_is_an_own_fault() {
    if !inside("probe_net::ping::a_missing_route_is_an_own_fault", "ip link set lo up", "") {
        return;
    }
    for host in ["192.0.2.1", "2001:db8::1"] {
        let observation = attempt(&net(), MonitorType::Ping, json!({"hostname": host}), QUICK).await;
        assert_eq!(
            failure_kind(&observation),
            Some(FailureKind::NoRoute),
            "{host}: {:?}",
            observation.failure
        );
    }
}

#[tokio::test]
async fn a_host_whose_first_address_is_dead_is_reached_at_the_next() {
    let setup = "ip link set lo up; sysctl -qw net.ipv6.icmp.echo_ignore_all=1";
    if !inside("probe_net::ping::a_host_whose_first_address_is_dead_is_reached_at_the_next", setup, "") {
        return;
    }
    let server = NameServer::start("127.0.0.1", |_, kind| {
        Reply::Recursive(vec![if kind == RecordType::A { v4("127.0.0.1") } else { v6("::1") }])
    })
    .await;
    let at = server.at;
    let net = net_with(|config| config.name_servers = NameServers::Explicit(vec![at]));
    let dead = attempt(&net, MonitorType::Ping, json!({"hostname": "::1"}), QUICK).await;
    assert_eq!(failure_kind(&dead), Some(FailureKind::PingLossTooHigh));
    let observation = attempt(&net, MonitorType::Ping, json!({"hostname": "both.test"}), 2 * QUICK).await;
    assert_eq!(observation.failure, None);
    assert_eq!(
        observation.facts.resolved_addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["::1", "127.0.0.1"]
    );
    assert_eq!(observation.address.unwrap().ip().to_string(), "127.0.0.1");
    let facts = observation.facts.ping.unwrap();
    assert_eq!((facts.requests_sent, facts.replies_received), (5, 5));
}
