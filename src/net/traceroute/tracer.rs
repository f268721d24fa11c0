//! Decides when to send which request, and when a route is complete.

use std::io;
use std::time::Duration;

use tokio::time::Instant;

use super::options::TracerouteOptions;
use super::packet::ResponseKind;
use super::route::{HopReply, Route, RouteEnd, RouteHop};
use super::trace_socket::{HopResponse, TraceSocket};
use crate::net::deadline::Deadline;

/// Maximum number of requests in flight: five hops with two each, so that silence after the last router is detected
/// after one `reply_timeout`. More would exceed the limit of targets for ICMP errors (Linux: `icmp_ratelimit`, six at
/// once and then one a second).
const MAX_REQUESTS_IN_FLIGHT: usize = 10;

/// Traces the route of `socket` until it is complete, or `deadline` comes.
pub(super) async fn trace(
    socket: &TraceSocket,
    options: TracerouteOptions,
    deadline: Deadline,
) -> io::Result<Route> {
    let mut state = TraceState::new(options);
    loop {
        state.cut_off_silent_hops(Instant::now());
        while let Some((request_index, hop_limit)) = state.next_request(Instant::now()) {
            socket.send(request_index, hop_limit).await?;
            // Recorded after sending, since that may wait for the socket.
            state.record_sent(request_index, Instant::now());
        }
        let Some(next_timeout) = state.next_reply_timeout(Instant::now()) else { break };
        tokio::select! {
            biased;
            response = socket.receive_response() => state.on_response(response?, Instant::now()),
            () = tokio::time::sleep_until(next_timeout.min(deadline.at)) => {}
        }
        if deadline.is_expired() {
            state.deadline_passed = true;
            break;
        }
    }
    let (hops, end) = state.finish();
    Ok(Route {
        target_address: socket.target_address(),
        method: socket.method(),
        socket_kind: socket.socket_kind(),
        hops,
        end,
    })
}

/// The state of a trace, without sockets.
struct TraceState {
    requests_per_hop: usize,
    reply_timeout: Duration,
    max_silent_hops: usize,
    /// When each request was sent, in the order of hops, by the index of the request.
    sent_at: Vec<Instant>,
    /// The reply to each request, by its index; `None` before it and without one.
    replies: Vec<Option<HopReply>>,
    /// Number of the last hop, from 1: the limit until the end of the route is known.
    last_hop: usize,
    /// Whether `last_hop` is still the limit, and not yet the end of the route.
    is_last_hop_unknown: bool,
    /// Whether the deadline came before the route was complete.
    deadline_passed: bool,
}

impl TraceState {
    fn new(options: TracerouteOptions) -> Self {
        Self {
            requests_per_hop: usize::from(options.requests_per_hop.clamp(1, 10)),
            reply_timeout: options.reply_timeout,
            max_silent_hops: usize::from(options.max_silent_hops.max(1)),
            sent_at: Vec::new(),
            replies: Vec::new(),
            last_hop: usize::from(options.max_hops.clamp(1, 64)),
            is_last_hop_unknown: true,
            deadline_passed: false,
        }
    }

    /// Returns the next request to send now, with its hop limit.
    fn next_request(&self, now: Instant) -> Option<(u16, u8)> {
        let request_index = self.sent_at.len();
        let hop_limit = request_index / self.requests_per_hop + 1;
        if hop_limit > self.last_hop || self.in_flight_sent_at(now).count() >= MAX_REQUESTS_IN_FLIGHT {
            return None;
        }
        Some((u16::try_from(request_index).ok()?, u8::try_from(hop_limit).ok()?))
    }

    fn record_sent(&mut self, request_index: u16, sent_at: Instant) {
        debug_assert_eq!(usize::from(request_index), self.sent_at.len());
        self.sent_at.push(sent_at);
        self.replies.push(None);
    }

    /// Returns the send times of the requests that still wait for a reply.
    fn in_flight_sent_at(&self, now: Instant) -> impl Iterator<Item = Instant> {
        let count = (self.last_hop * self.requests_per_hop).min(self.sent_at.len());
        self.sent_at[..count]
            .iter()
            .zip(&self.replies)
            .filter(move |(sent, reply)| reply.is_none() && now.duration_since(**sent) < self.reply_timeout)
            .map(|(sent, _)| *sent)
    }

    /// Returns when the oldest waiting request times out; `None` when none waits, so the route is complete.
    fn next_reply_timeout(&self, now: Instant) -> Option<Instant> {
        self.in_flight_sent_at(now).min().map(|sent| sent + self.reply_timeout)
    }

    /// Ends the route after too many hops without reply.
    fn cut_off_silent_hops(&mut self, now: Instant) {
        let has_timed_out = |request_index: usize| {
            self.sent_at
                .get(request_index)
                .is_some_and(|sent| now.duration_since(*sent) >= self.reply_timeout)
                && self.replies[request_index].is_none()
        };
        let is_silent =
            |hop: usize| (hop * self.requests_per_hop..(hop + 1) * self.requests_per_hop).all(has_timed_out);
        let complete_hops = self.sent_at.len() / self.requests_per_hop;
        let mut consecutive_silent = 0;
        for hop in 0..complete_hops.min(self.last_hop) {
            consecutive_silent = if is_silent(hop) { consecutive_silent + 1 } else { 0 };
            // Requests to later hops may be in flight: a reply to one of them ends the silence.
            let has_later_reply =
                self.replies.iter().skip((hop + 1) * self.requests_per_hop).any(Option::is_some);
            if consecutive_silent >= self.max_silent_hops && !has_later_reply && self.is_last_hop_unknown {
                self.last_hop = hop + 1;
            }
        }
    }

    fn on_response(&mut self, response: HopResponse, received_at: Instant) {
        let request_index = usize::from(response.request_index);
        let Some(reply @ None) = self.replies.get_mut(request_index) else { return };
        let rtt = received_at.duration_since(self.sent_at[request_index]);
        *reply = Some(HopReply {
            sender: response.sender,
            rtt_us: u64::try_from(rtt.as_micros()).unwrap_or(u64::MAX),
            refusal_reason: match response.kind {
                ResponseKind::Unreachable(reason) => Some(reason),
                ResponseKind::TtlExceeded | ResponseKind::TargetReached => None,
            },
            is_from_target: response.kind == ResponseKind::TargetReached,
        });
        if response.kind != ResponseKind::TtlExceeded {
            self.last_hop = self.last_hop.min(request_index / self.requests_per_hop + 1);
            self.is_last_hop_unknown = false;
        }
    }

    fn finish(self) -> (Vec<RouteHop>, RouteEnd) {
        let mut hops: Vec<RouteHop> = self
            .replies
            .chunks(self.requests_per_hop)
            .take(self.last_hop)
            .map(|replies| RouteHop { replies: replies.to_vec() })
            .collect();
        let last_replies = hops.last().map(|hop| hop.replies.as_slice()).unwrap_or_default();
        let end = if last_replies.iter().flatten().any(|reply| reply.is_from_target) {
            RouteEnd::Reached
        } else if last_replies.iter().flatten().any(|reply| reply.refusal_reason.is_some()) {
            RouteEnd::Refused
        } else if self.deadline_passed {
            RouteEnd::TimedOut
        } else if hops.last().is_some_and(RouteHop::is_silent) {
            RouteEnd::NoReply
        } else {
            RouteEnd::MaxHops
        };
        if matches!(end, RouteEnd::NoReply | RouteEnd::TimedOut) {
            // Keep one of the silent hops at the end.
            let last_replying_hop =
                hops.iter().rposition(|hop| !hop.is_silent()).map_or(0, |index| index + 1);
            hops.truncate(last_replying_hop + 1);
        }
        (hops, end)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

    fn new_trace_state(requests_per_hop: u8, max_hops: u8) -> TraceState {
        TraceState::new(TracerouteOptions {
            requests_per_hop,
            max_hops,
            reply_timeout: REPLY_TIMEOUT,
            max_silent_hops: 3,
            ..TracerouteOptions::default()
        })
    }

    /// Simulates a route whose hop `h` responds with `respond(h)`; returns the hops of the sent requests, and the
    /// result.
    fn simulate_route(
        mut state: TraceState,
        respond: impl Fn(u8) -> Option<ResponseKind>,
    ) -> (Vec<u8>, Vec<RouteHop>, RouteEnd) {
        let mut now = Instant::now();
        let mut sent_hop_limits = Vec::new();
        loop {
            let mut responses = Vec::new();
            state.cut_off_silent_hops(now);
            while let Some((request_index, hop)) = state.next_request(now) {
                state.record_sent(request_index, now);
                sent_hop_limits.push(hop);
                responses.extend(respond(hop).map(|kind| HopResponse {
                    request_index,
                    sender: IpAddr::from([10, 0, 0, hop]),
                    kind,
                }));
            }
            let Some(until) = state.next_reply_timeout(now) else { break };
            now = if responses.is_empty() { until } else { now + Duration::from_millis(1) };
            for response in responses {
                state.on_response(response, now);
            }
        }
        let (hops, end) = state.finish();
        (sent_hop_limits, hops, end)
    }

    fn last_sender_octets(hops: &[RouteHop]) -> Vec<Option<u8>> {
        let last = |address: IpAddr| match address {
            IpAddr::V4(v4) => v4.octets()[3],
            IpAddr::V6(_) => 0,
        };
        hops.iter().map(|hop| hop.replies.iter().flatten().next().map(|reply| last(reply.sender))).collect()
    }

    #[tokio::test]
    async fn the_route_ends_at_the_target_despite_later_requests() {
        let target =
            |hop| Some(if hop < 4 { ResponseKind::TtlExceeded } else { ResponseKind::TargetReached });
        let (sent_hop_limits, hops, end) = simulate_route(new_trace_state(3, 30), target);
        assert_eq!(
            (last_sender_octets(&hops), end),
            (vec![Some(1), Some(2), Some(3), Some(4)], RouteEnd::Reached)
        );
        assert!(sent_hop_limits.len() <= 12 + MAX_REQUESTS_IN_FLIGHT, "{sent_hop_limits:?}");
        assert!(hops.iter().all(|hop| hop.replies.len() == 3));
    }

    #[tokio::test]
    async fn silent_hops_end_the_route_unless_a_later_hop_replies() {
        let (sent_hop_limits, hops, end) =
            simulate_route(new_trace_state(1, 30), |hop| (hop < 3).then_some(ResponseKind::TtlExceeded));
        assert_eq!((last_sender_octets(&hops), end), (vec![Some(1), Some(2), None], RouteEnd::NoReply));
        assert!(sent_hop_limits.len() <= 2 + MAX_REQUESTS_IN_FLIGHT, "{sent_hop_limits:?}");
        let gap = |hop| match hop {
            3..=7 => None,
            8 => Some(ResponseKind::TargetReached),
            _ => Some(ResponseKind::TtlExceeded),
        };
        let (_, hops, end) = simulate_route(new_trace_state(1, 30), gap);
        assert_eq!((hops.len(), end), (8, RouteEnd::Reached));
        let (_, hops, end) = simulate_route(new_trace_state(2, 30), |_| None);
        assert_eq!((hops.len(), end), (1, RouteEnd::NoReply));
    }

    #[tokio::test]
    async fn a_refusal_ends_the_route_with_its_reason() {
        let (_, hops, end) = simulate_route(new_trace_state(2, 30), |hop| {
            Some(if hop < 2 {
                ResponseKind::TtlExceeded
            } else {
                ResponseKind::Unreachable("host unreachable")
            })
        });
        assert_eq!((hops.len(), end), (2, RouteEnd::Refused));
        assert_eq!(hops[1].replies[0].as_ref().unwrap().refusal_reason, Some("host unreachable"));
    }

    #[tokio::test]
    async fn max_hops_is_not_exceeded() {
        let (sent_hop_limits, hops, end) =
            simulate_route(new_trace_state(2, 5), |_| Some(ResponseKind::TtlExceeded));
        assert_eq!((sent_hop_limits.len(), hops.len(), end), (10, 5, RouteEnd::MaxHops));
    }

    #[tokio::test]
    async fn unexpected_and_duplicate_responses_are_ignored() {
        let mut state = new_trace_state(1, 3);
        let now = Instant::now();
        state.record_sent(0, now);
        let response =
            |request_index, kind| HopResponse { request_index, sender: IpAddr::from([10, 0, 0, 1]), kind };
        state.on_response(response(9, ResponseKind::TargetReached), now);
        state.on_response(response(0, ResponseKind::TtlExceeded), now);
        state.on_response(response(0, ResponseKind::TargetReached), now);
        assert_eq!((state.last_hop, state.is_last_hop_unknown), (3, true));
    }
}
