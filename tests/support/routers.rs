//! Routers in network namespaces of their own, for tests that run inside a namespace.
#![allow(dead_code, reason = "every test binary takes what it needs")]

/// Builds a chain: this namespace, two routers and the target. Hop n has `10.0.n.2` and `fd00:n::2`. ICMP replies are
/// not rate limited, so that one trace does not silence the next. The namespaces end with this process.
pub const CHAIN: &str = r#"
    own() { readlink /proc/$1/ns/net; }
    place() {
        setpriv --pdeathsig KILL unshare --net sleep 600 &
        made=$!
        until [ "$(own $made)" != "$(own self)" ] && [ -n "$(own $made)" ]; do :; done
        nsenter -t $made --net ip link set lo up
        nsenter -t $made --net sysctl -qw net.ipv6.conf.default.accept_dad=0
    }
    link() {
        nsenter -t $1 --net ip link add veth-b type veth peer name veth-a netns $2
        for side in "$1 veth-b 1" "$2 veth-a 2"; do
            set -- $1 $2 $3 $side
            nsenter -t $4 --net ip link set $5 up
            nsenter -t $4 --net ip addr add 10.0.$3.$6/24 dev $5
            nsenter -t $4 --net ip addr add fd00:$3::$6/64 dev $5 nodad
        done
    }
    up() { nsenter -t $1 --net ip route add default via 10.0.$2.1; nsenter -t $1 --net ip -6 route add default via fd00:$2::1; }
    down() { nsenter -t $1 --net ip route add 10.0.$2.0/24 via 10.0.$3.2; nsenter -t $1 --net ip -6 route add fd00:$2::/64 via fd00:$3::2; }
    forwards() { nsenter -t $1 --net sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1; }
    ip link set lo up; sysctl -qw net.ipv6.conf.default.accept_dad=0
    place; r1=$made
    place; r2=$made
    place; target=$made
    link $$ $r1 1; link $r1 $r2 2; link $r2 $target 3
    forwards $r1; forwards $r2
    for each in $r1 $r2 $target; do
        nsenter -t $each --net sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0
    done
    ip route add default via 10.0.1.2; ip -6 route add default via fd00:1::2
    down $r1 3 2; up $r2 2; up $target 3
    nsenter -t $r1 --net ip route add 10.9.0.0/16 via 10.0.2.2
    nsenter -t $r1 --net ip -6 route add fd09::/16 via fd00:2::2
"#;

/// Permits ICMP echo requests without privilege.
pub const UNPRIVILEGED_PING: &str = "sysctl -qw net.ipv4.ping_group_range='0 0'";
