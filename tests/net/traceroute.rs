//! Traceroutes: over loopback, and through routers that are network namespaces.

use std::net::IpAddr;
use std::time::Duration;

use vigie::domain::FailureKind;
use vigie::net::{Endpoint, Route, RouteEnd, TracerouteMethod, TracerouteOptions};

use crate::net::{long_deadline, net, net_with, within};
use crate::support::namespace::inside;
use crate::support::routers::{CHAIN, UNPRIVILEGED_PING};

async fn trace(host: &str, method: TracerouteMethod) -> Route {
    let options = TracerouteOptions {
        method: Some(method),
        reply_timeout: Duration::from_millis(500),
        ..TracerouteOptions::default()
    };
    net().traceroute(&Endpoint::new(host, 0), options, long_deadline()).await.unwrap().route
}

/// Returns the addresses that replied at each hop, without duplicates.
fn responders(route: &Route) -> Vec<Vec<String>> {
    let addresses_of = |hop: &vigie::net::RouteHop| {
        let mut addresses: Vec<String> =
            hop.replies.iter().flatten().map(|answer| answer.sender.to_string()).collect();
        addresses.dedup();
        addresses
    };
    route.hops.iter().map(addresses_of).collect()
}

const METHODS: [TracerouteMethod; 2] = [TracerouteMethod::Udp, TracerouteMethod::Icmp];

#[tokio::test]
async fn loopback_is_one_hop_away() {
    for host in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
        for method in METHODS {
            let route = trace(host, method).await;
            assert_eq!((route.end, route.hops.len()), (RouteEnd::Reached, 1), "{host}: {route}");
            assert_eq!(route.hops[0].replies.len(), 2);
            let own: IpAddr = host.parse::<IpAddr>().unwrap().to_canonical();
            assert_eq!(responders(&route), [[own.to_string()]], "{host}");
        }
    }
}

#[tokio::test]
async fn a_route_leads_over_its_routers_to_the_target() {
    if !inside("net::traceroute::a_route_leads_over_its_routers_to_the_target", CHAIN, "") {
        return;
    }
    for method in METHODS {
        for (host, hops) in [
            ("10.0.3.2", ["10.0.1.2", "10.0.2.2", "10.0.3.2"]),
            ("fd00:3::2", ["fd00:1::2", "fd00:2::2", "fd00:3::2"]),
        ] {
            let route = trace(host, method).await;
            assert_eq!(responders(&route), hops.map(|hop| vec![hop.to_owned()]), "{method:?}: {route}");
            assert_eq!(route.end, RouteEnd::Reached, "{route}");
        }
    }
    // Both methods at once, as for an alert: the other one is summarised in a line.
    let traced = net()
        .traceroute(&Endpoint::new("10.0.3.2", 0), TracerouteOptions::default(), long_deadline())
        .await
        .unwrap();
    assert_eq!(traced.route.end, RouteEnd::Reached, "{traced}");
    assert_eq!(traced.other_method_summary, "ICMP: the target replied (after 3 hops)", "{traced}");
    let file = net().traceroute_to_capture(&Endpoint::new("fd00:3::2", 0), long_deadline()).await;
    let text = String::from_utf8(file.content.unwrap().to_vec()).unwrap();
    assert_eq!(file.name, "traceroute.txt");
    assert!(text.starts_with("traceroute to fd00:3::2 (fd00:3::2) over UDP\n  1  fd00:1::2  "), "{text}");
}

#[tokio::test]
async fn no_method_needs_privileges_where_the_kernel_permits_it() {
    let setup = format!("{CHAIN}\n{UNPRIVILEGED_PING}");
    let name = "net::traceroute::no_method_needs_privileges_where_the_kernel_permits_it";
    if !inside(name, &setup, "setpriv --bounding-set=-net_raw") {
        return;
    }
    for method in METHODS {
        for host in ["10.0.3.2", "fd00:3::2"] {
            let route = trace(host, method).await;
            assert_eq!(
                (route.socket_kind, route.end, route.hops.len()),
                ("dgram", RouteEnd::Reached, 3),
                "{route}"
            );
        }
    }
}

#[tokio::test]
async fn without_permission_for_echo_requests_datagrams_are_used() {
    let name = "net::traceroute::without_permission_for_echo_requests_datagrams_are_used";
    if !inside(name, CHAIN, "setpriv --bounding-set=-net_raw") {
        return;
    }
    let to = Endpoint::new("10.0.3.2", 0);
    let only_icmp =
        TracerouteOptions { method: Some(TracerouteMethod::Icmp), ..TracerouteOptions::default() };
    let failure = net().traceroute(&to, only_icmp, long_deadline()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoPermission);
    assert!(failure.detail.contains("net.ipv4.ping_group_range"), "{failure}");
    let traced = net().traceroute(&to, TracerouteOptions::default(), long_deadline()).await.unwrap();
    assert_eq!(
        (traced.route.method, traced.route.end),
        (TracerouteMethod::Udp, RouteEnd::Reached),
        "{traced}"
    );
    assert!(traced.other_method_summary.starts_with("echo requests to 10.0.3.2: "), "{traced}");
}

#[tokio::test]
async fn a_route_that_ends_early_has_its_reason() {
    let setup = format!(
        "{CHAIN}
         nsenter -t $r2 --net ip route add unreachable 10.9.1.0/24
         nsenter -t $r1 --net ip route add prohibit 10.9.2.0/24
         nsenter -t $r2 --net ip route add blackhole 10.9.3.0/24
         nsenter -t $r2 --net ip -6 route add prohibit fd09:2::/64"
    );
    if !inside("net::traceroute::a_route_that_ends_early_has_its_reason", &setup, "") {
        return;
    }
    // Linux sends five errors to one host at once, and then one per second.
    let few_queries = |method| TracerouteOptions {
        method: Some(method),
        max_hops: 3,
        requests_per_hop: 1,
        ..TracerouteOptions::default()
    };
    for method in METHODS {
        for (host, from, reason, after) in [
            ("10.9.1.1", "10.0.2.2", "host unreachable", "2 hops"),
            ("10.9.2.1", "10.0.1.2", "administratively prohibited", "1 hop"),
            ("fd09:2::1", "fd00:2::2", "administratively prohibited", "2 hops"),
        ] {
            let traced = net()
                .traceroute(&Endpoint::new(host, 0), few_queries(method), long_deadline())
                .await
                .unwrap();
            let text = format!("the route ends here: {from} reports: {reason} (after {after})");
            assert_eq!((traced.route.end, traced.route.summary()), (RouteEnd::Refused, text), "{traced}");
        }
        let route = trace("10.9.3.1", method).await;
        assert_eq!((route.end, route.last_replying_hop()), (RouteEnd::NoReply, 1), "{route}");
        assert_eq!(route.summary(), "no replies from here on (1 hop known)");
    }
}

#[tokio::test]
async fn a_trace_ends_with_its_deadline() {
    let setup = "ip link set lo up; ip addr add 192.0.2.1/32 dev lo; ip route add blackhole 198.51.100.0/24; \
                 ip link add veth-a type veth peer name veth-b; ip link set veth-a up; ip link set veth-b up; \
                 ip addr add 10.1.0.1/24 dev veth-a; ip neigh add 10.1.0.2 lladdr 02:00:00:00:00:09 dev veth-a nud permanent; \
                 ip route add 203.0.113.0/24 via 10.1.0.2";
    if !inside("net::traceroute::a_trace_ends_with_its_deadline", setup, "") {
        return;
    }
    let started = std::time::Instant::now();
    let options =
        TracerouteOptions { reply_timeout: Duration::from_secs(30), ..TracerouteOptions::default() };
    let traced = net().traceroute(&Endpoint::new("203.0.113.9", 0), options, within(300)).await.unwrap();
    assert_eq!((traced.route.end, traced.route.hops.len()), (RouteEnd::TimedOut, 1), "{traced}");
    assert!(started.elapsed() < Duration::from_secs(5));
    // A host without a route fails with that reason.
    let failure =
        net().traceroute(&Endpoint::new("192.0.2.77", 0), options, long_deadline()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoRoute, "{failure}");
    let file = net().traceroute_to_capture(&Endpoint::new("192.0.2.77", 0), long_deadline()).await;
    let text = String::from_utf8(file.content.unwrap().to_vec()).unwrap();
    assert!(text.starts_with("traceroute to 192.0.2.77: "), "{text}");
}

#[tokio::test]
async fn the_egress_policy_applies_to_traceroutes() {
    let strict = net_with(|config| {
        config.egress_policy = vigie::net::EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap();
    });
    let failure = strict
        .traceroute(&Endpoint::new("127.0.0.1", 0), TracerouteOptions::default(), long_deadline())
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::EgressDenied);
}
