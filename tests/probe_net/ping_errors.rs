//! `ping` through routers that reply instead of the target, over raw and unprivileged sockets.

use std::time::Duration;

use serde_json::json;
use vigie::domain::{FailureKind, MonitorType, Observation, Status};

use crate::probe_net::{attempt, net};
use crate::support::namespace::inside;
use crate::support::routers::{CHAIN, UNPRIVILEGED_PING};

/// Routes of the second router that refuse some addresses. It sends the others back to the first router.
const REFUSALS: &str = "
    for route in 'unreachable 10.9.1.1' 'prohibit 10.9.1.2' 'blackhole 10.9.1.3'; do
        nsenter -t $r2 --net ip route add $route
    done
    for route in 'unreachable fd09::1' 'prohibit fd09::2' 'blackhole fd09::3'; do
        nsenter -t $r2 --net ip -6 route add $route
    done
    nsenter -t $r1 --net ip link set veth-b mtu 1300
    nsenter -t $r2 --net ip link set veth-a mtu 1300
    ip route add prohibit 192.0.2.7
";

async fn ping(host: &str, count: u32, size: u32, timeout: Duration) -> Observation {
    let fields = json!({"hostname": host, "ping_count": count, "ping_size": size, "loss_threshold": 1});
    attempt(&net(), MonitorType::Ping, fields, timeout).await
}

async fn check_icmp_errors(socket: &str) {
    let quick = Duration::from_secs(2);
    let cases = [
        ("10.9.1.1", "10.0.2.2 reported: host unreachable (ICMP type 3, code 1), 2 times"),
        ("10.9.1.2", "10.0.2.2 reported: prohibited by a filter (ICMP type 3, code 13), 2 times"),
        ("10.9.1.4", " reported: TTL exceeded"),
        ("fd09::1", "fd00:2::2 reported: network unreachable (ICMP type 1, code 0), 2 times"),
        ("fd09::2", "fd00:2::2 reported: prohibited by a filter (ICMP type 1, code 1), 2 times"),
        ("fd09::4", " reported: TTL exceeded"),
    ];
    for (host, text) in cases {
        let observation = ping(host, 2, 56, quick).await;
        let failure = observation.failure.unwrap();
        assert_eq!(
            (failure.kind, failure.status()),
            (FailureKind::PingLossTooHigh, Status::PING_FAILED),
            "{host}"
        );
        assert!(failure.detail.starts_with(&format!("{host}: 2 of 2 requests had no reply; ")), "{failure}");
        assert!(failure.detail.contains(text), "{host}: {failure}");
        let facts = observation.facts.ping.unwrap();
        assert_eq!((facts.requests_sent, facts.replies_received, facts.socket_type.as_str()), (2, 0, socket));
        assert!(facts.icmp_errors[0].contains(text), "{facts:?}");
        assert!(
            observation.duration < quick,
            "an error ends the wait for its request: {:?}",
            observation.duration
        );
    }
    for host in ["10.9.1.3", "fd09::3"] {
        let observation = ping(host, 2, 56, Duration::from_secs(1)).await;
        assert!(
            observation.failure.unwrap().detail.ends_with("2 of 2 requests had no reply"),
            "{host}: silence"
        );
        assert!(observation.facts.ping.unwrap().icmp_errors.is_empty());
    }
    for (host, text) in [
        ("10.0.3.2", "10.0.1.2 reported: packet too big for the next link (MTU 1300)"),
        ("fd00:3::2", "fd00:1::2 reported: packet too big for the next link (MTU 1300)"),
    ] {
        // Small packets pass. The first large one is lost, until both hosts know the path MTU.
        assert_eq!(ping(host, 2, 56, quick).await.failure, None, "{host}");
        let observation = ping(host, 5, 1400, quick).await;
        assert!(observation.failure.unwrap().detail.contains(text), "{host}");
        let facts = observation.facts.ping.unwrap();
        assert!((1..5).contains(&facts.replies_received), "{facts:?}");
    }
    // No host of the first link has this address: this host reports that itself, after asking three times.
    let observation = ping("10.0.1.77", 1, 56, Duration::from_secs(6)).await;
    assert!(
        observation.failure.as_ref().unwrap().detail.contains("10.0.1.1 reported: host unreachable"),
        "{observation:?}"
    );
    let failure = ping("192.0.2.7", 1, 56, quick).await.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::NoPermission, "{failure}");
    assert!(failure.detail.contains("a route or firewall rule of this host"), "{failure}");
}

#[tokio::test]
async fn a_raw_socket_reports_icmp_errors_with_their_sender() {
    let name = "probe_net::ping_errors::a_raw_socket_reports_icmp_errors_with_their_sender";
    if inside(name, &format!("{CHAIN}{REFUSALS}"), "") {
        check_icmp_errors("raw").await;
    }
}

#[tokio::test]
async fn an_unprivileged_socket_reports_icmp_errors_with_their_sender() {
    let name = "probe_net::ping_errors::an_unprivileged_socket_reports_icmp_errors_with_their_sender";
    let setup = format!("{CHAIN}{REFUSALS}\n{UNPRIVILEGED_PING}");
    if inside(name, &setup, "setpriv --bounding-set=-net_raw") {
        check_icmp_errors("dgram").await;
    }
}

#[tokio::test]
async fn icmp_errors_about_one_target_do_not_affect_others() {
    let name = "probe_net::ping_errors::icmp_errors_about_one_target_do_not_affect_others";
    let setup = format!("{CHAIN}{REFUSALS}\n{UNPRIVILEGED_PING}");
    if !inside(name, &setup, "setpriv --bounding-set=-net_raw") {
        return;
    }
    // All checks share one socket, on which the error for one request is returned by the `sendto` of another.
    let net = net();
    let check = |host: &'static str| {
        let fields = json!({"hostname": host, "ping_count": 10});
        attempt(&net, MonitorType::Ping, fields, Duration::from_secs(2))
    };
    let hosts = ["10.9.1.1", "10.0.3.2", "10.9.1.2", "127.0.0.1", "10.9.1.1", "10.0.3.2"];
    for (host, observation) in hosts.iter().zip(futures::future::join_all(hosts.map(check)).await) {
        let received = observation.facts.ping.unwrap().replies_received;
        assert_eq!(received, if host.starts_with("10.9") { 0 } else { 10 }, "{host}");
    }
}

#[tokio::test]
async fn two_thousand_targets_are_pinged_in_a_second_without_loss() {
    let net = net();
    // Other tests run at the same time, so a single try may lack the processors.
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let started = std::time::Instant::now();
        let checks = (0..2000_u32).map(|n| {
            let host = format!("127.1.{}.{}", n / 250, n % 250 + 1);
            attempt(
                &net,
                MonitorType::Ping,
                json!({"hostname": host, "ping_count": 1}),
                Duration::from_secs(10),
            )
        });
        for observation in futures::future::join_all(checks).await {
            assert_eq!(observation.failure, None);
            assert_eq!(observation.facts.ping.unwrap().replies_received, 1);
        }
        best = best.min(started.elapsed());
        if best <= Duration::from_secs(1) {
            return;
        }
    }
    panic!("{best:?}, the best of ten times");
}
