//! Formats routes for display.

use std::fmt;

use super::options::TracerouteResult;
use super::route::{HopReply, Route, RouteEnd, RouteHop};

impl fmt::Display for TracerouteResult {
    /// Writes several lines, each with its line end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Route { target_address: address, method, .. } = self.route;
        writeln!(f, "traceroute to {} ({address}) over {}", self.host, method.as_str())?;
        write!(f, "{}", self.route)?;
        if !self.other_method_summary.is_empty() {
            writeln!(f, "({})", self.other_method_summary)?;
        }
        Ok(())
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, hop) in (1..).zip(&self.hops) {
            writeln!(f, "{number:>3}  {hop}")?;
        }
        writeln!(f, "{}", self.summary())
    }
}

impl Route {
    /// Returns how the trace ended, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let text = self.end.as_str();
        let last_replying_hop = self.last_replying_hop();
        let hop_count =
            if last_replying_hop == 1 { "1 hop".to_owned() } else { format!("{last_replying_hop} hops") };
        match (self.end, self.last_refusal()) {
            (RouteEnd::Refused, Some(HopReply { sender: from, refusal_reason: Some(reason), .. })) => {
                format!("{text}: {from} reports: {reason} (after {hop_count})")
            }
            (RouteEnd::Reached | RouteEnd::Refused, _) => format!("{text} (after {hop_count})"),
            _ => format!("{text} ({hop_count} known)"),
        }
    }
}

impl fmt::Display for RouteHop {
    /// Writes each address once, followed by the times while it stays the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last_sender = None;
        for (index, reply) in self.replies.iter().enumerate() {
            let separator = if index == 0 { "" } else { "  " };
            match reply {
                None => write!(f, "{separator}*")?,
                Some(reply) => {
                    write!(f, "{separator}")?;
                    if last_sender != Some(reply.sender) {
                        write!(f, "{}  ", reply.sender)?;
                    }
                    last_sender = Some(reply.sender);
                    write!(f, "{}.{:02} ms", reply.rtt_us / 1000, reply.rtt_us % 1000 / 10)?;
                    if let Some(reason) = reply.refusal_reason {
                        write!(f, " ({reason})")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::super::route::TracerouteMethod;
    use super::*;

    fn hop_reply(last_octet: u8, rtt_us: u64, refused: Option<&'static str>) -> HopReply {
        HopReply {
            sender: IpAddr::from([192, 0, 2, last_octet]),
            rtt_us,
            refusal_reason: refused,
            is_from_target: false,
        }
    }

    #[test]
    fn a_route_reads_like_a_table() {
        let hops = vec![
            RouteHop { replies: vec![Some(hop_reply(1, 512, None)), Some(hop_reply(1, 1_498, None))] },
            RouteHop { replies: vec![Some(hop_reply(2, 20_000, None)), Some(hop_reply(3, 10_010, None))] },
            RouteHop { replies: vec![None, None] },
            RouteHop { replies: vec![None, Some(hop_reply(9, 33_333, Some("host unreachable")))] },
        ];
        let address = IpAddr::from([198, 51, 100, 7]);
        let route = Route {
            target_address: address,
            method: TracerouteMethod::Udp,
            socket_kind: "dgram",
            hops,
            end: RouteEnd::Refused,
        };
        let traceroute = TracerouteResult {
            host: "shop.test".to_owned(),
            route,
            other_method_summary: "ICMP: nothing".to_owned(),
        };
        assert_eq!(
            traceroute.to_string(),
            "traceroute to shop.test (198.51.100.7) over UDP
  1  192.0.2.1  0.51 ms  1.49 ms
  2  192.0.2.2  20.00 ms  192.0.2.3  10.01 ms
  3  *  *
  4  *  192.0.2.9  33.33 ms (host unreachable)
the route ends here: 192.0.2.9 reports: host unreachable (after 4 hops)
(ICMP: nothing)
"
        );
    }
}
