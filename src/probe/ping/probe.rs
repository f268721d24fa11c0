//! The probe of ICMP echo.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use super::statistics::PingStatistics;
use crate::domain::{Failure, FailureKind, Observation, Phase, PingFacts};
use crate::net::{CONNECTION_ATTEMPT_DELAY, ConnectionTrace, EchoResult, EchoSocket, Endpoint};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::probe::service_target::{build_endpoint, build_observation};
use crate::schema::typed::ping::PingSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Largest payload of an IPv4 packet, in bytes.
const MAX_PAYLOAD_BYTES: usize = 65_507;

/// Interval between requests, if the timeout allows it.
const SEND_INTERVAL: Duration = Duration::from_secs(1);

/// Shortest wait for the reply to the last request, when others were answered; also bounded by the deadline.
const MIN_FINAL_WAIT: Duration = Duration::from_secs(1);

/// Wait for the reply to the last request, when no request was answered so far.
const FINAL_WAIT_WITHOUT_REPLY: Duration = Duration::from_secs(5);

/// Longest wait for one of several addresses to reply before the series starts.
const ADDRESS_RACE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct PingProbe {
    endpoint: Endpoint,
    request_count: u32,
    payload_bytes: usize,
    /// Loss in percent from which the check fails.
    loss_threshold_percent: f64,
}

/// Builds the probe of a validated `ping` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, _: &ProbeBuildContext) -> Arc<dyn Probe> {
    match PingProbe::new(document) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

impl PingProbe {
    fn new(document: &MonitorDocument) -> Result<Self, InvalidFieldValue> {
        let settings: PingSettings<'_> = document.deserialize()?;
        Ok(Self {
            endpoint: build_endpoint(settings.hostname, 0, &document.deserialize()?),
            request_count: settings.ping_count.clamp(1, 20),
            payload_bytes: settings.ping_size.min(MAX_PAYLOAD_BYTES),
            // A threshold of 0 would fail a series without loss; it means any loss.
            loss_threshold_percent: settings.loss_threshold.clamp(f64::MIN_POSITIVE, 100.0),
        })
    }
}

impl Probe for PingProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(&self.endpoint.host)
    }
}

impl PingProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut trace = ConnectionTrace::default();
        let (mut facts, mut mean_rtt) = (None, None);
        let run_result = self.execute(cx, &mut trace, &mut facts, &mut mean_rtt).await;
        // The address of the trace has port 0, since ICMP has no ports.
        let mut observation = build_observation(started, trace, run_result);
        observation.facts.ping = facts.map(Box::new);
        // The pauses between the requests are not time of the target.
        observation.duration = mean_rtt.unwrap_or(observation.duration);
        observation
    }

    async fn execute(
        &self,
        cx: ProbeContext<'_>,
        trace: &mut ConnectionTrace,
        facts: &mut Option<PingFacts>,
        mean_rtt: &mut Option<Duration>,
    ) -> Result<(), Failure> {
        let addresses = cx.net.resolve(&self.endpoint, cx.deadline, trace).await?;
        let allowed = cx.net.allowed_addresses(&addresses, None, trace)?;
        let address = match allowed.as_slice() {
            [address] => *address,
            candidates => self.choose_address(cx, candidates).await,
        };
        trace.peer_address = Some((address, 0).into());
        let socket = cx.net.echo_socket(address).await?;
        let mut statistics = PingStatistics::default();
        let send_result = self.send_requests(cx, socket, address, &mut statistics).await;
        *mean_rtt = statistics.mean_rtt();
        if let Some(mean_rtt) = *mean_rtt {
            trace.phases.set(Phase::Echo, mean_rtt);
        }
        *facts = (statistics.sent_count() > 0).then(|| statistics.to_facts(socket.socket_kind()));
        send_result?;
        self.check_loss(address, &statistics)
    }

    /// Chooses among several addresses: the first that replies to a request, sent with a delay after each other, like
    /// connections (RFC 8305). If none replies, the first with a route. These requests are not counted.
    async fn choose_address(&self, cx: ProbeContext<'_>, addresses: &[IpAddr]) -> IpAddr {
        let has_route = |ip: &&IpAddr| cx.net.open_udp_socket((**ip, 9).into()).is_ok();
        let routed: Vec<IpAddr> = addresses.iter().filter(has_route).copied().collect();
        let [first, _, ..] = routed[..] else { return *routed.first().unwrap_or(&addresses[0]) };
        let race_timeout = (cx.deadline.remaining() / 4).min(ADDRESS_RACE_TIMEOUT);
        let delay =
            CONNECTION_ATTEMPT_DELAY.min(race_timeout / u32::try_from(routed.len()).unwrap_or(u32::MAX));
        let mut requests: FuturesUnordered<_> = (0..)
            .zip(&routed)
            .map(|(index, &address)| async move {
                tokio::time::sleep(delay * index).await;
                let request =
                    cx.net.echo_socket(address).await.ok()?.send(address, self.payload_bytes).await.ok()?;
                matches!(request.echo_result().await, Some(EchoResult::Reply(_))).then_some(address)
            })
            .collect();
        let first_reply = async {
            while let Some(reply) = requests.next().await {
                if reply.is_some() {
                    return reply;
                }
            }
            None
        };
        tokio::time::timeout(race_timeout, first_reply).await.ok().flatten().unwrap_or(first)
    }

    /// Fails when the loss has reached the threshold (status 9).
    fn check_loss(&self, address: IpAddr, statistics: &PingStatistics) -> Result<(), Failure> {
        if statistics.loss_percent() < self.loss_threshold_percent {
            return Ok(());
        }
        let mut detail = format!(
            "{address}: {} of {} requests had no reply",
            statistics.lost_count(),
            statistics.sent_count()
        );
        for error in statistics.describe_icmp_errors() {
            detail = format!("{detail}; {error}");
        }
        Err(Failure::new(Phase::Echo, FailureKind::PingLossTooHigh, detail))
    }

    /// Sends the requests at their interval and waits for the replies, until all arrived or the time is over.
    async fn send_requests(
        &self,
        cx: ProbeContext<'_>,
        socket: &EchoSocket,
        address: IpAddr,
        statistics: &mut PingStatistics,
    ) -> Result<(), Failure> {
        let interval = SEND_INTERVAL.min(cx.deadline.remaining() / self.request_count);
        let mut pending_replies = FuturesUnordered::new();
        let mut next_send_at = Instant::now();
        loop {
            if statistics.sent_count() < self.request_count && next_send_at <= Instant::now() {
                let send_result =
                    cx.deadline.enforce(Phase::Echo, socket.send(address, self.payload_bytes)).await?;
                pending_replies.push(
                    send_result.map_err(|error| cx.net.echo_send_failure(address, &error))?.echo_result(),
                );
                statistics.record_sent();
                next_send_at += interval;
            }
            let all_sent = statistics.sent_count() == self.request_count;
            if all_sent && pending_replies.is_empty() {
                return Ok(());
            }
            let wait_until =
                if all_sent { next_send_at - interval + final_wait(statistics) } else { next_send_at };
            match tokio::time::timeout_at(wait_until.min(cx.deadline.at), pending_replies.next()).await {
                Ok(Some(Some(EchoResult::Reply(rtt)))) => statistics.record_reply(rtt),
                Ok(Some(Some(EchoResult::Error(error)))) => statistics.record_error(error),
                Ok(Some(None)) => return Err(socket_closed_failure(address)),
                Ok(None) => tokio::time::sleep_until(next_send_at.min(cx.deadline.at)).await,
                Err(_) if all_sent || cx.deadline.is_expired() => return Ok(()),
                Err(_) => {}
            }
        }
    }
}

fn final_wait(statistics: &PingStatistics) -> Duration {
    statistics.max_rtt().map_or(FINAL_WAIT_WITHOUT_REPLY, |longest| MIN_FINAL_WAIT.max(longest * 2))
}

fn socket_closed_failure(address: IpAddr) -> Failure {
    Failure::new(
        Phase::Echo,
        FailureKind::Internal,
        format!("{address}: the socket for echo requests was closed"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_decides_over_partial_loss() {
        let mut statistics = PingStatistics::default();
        for _ in 0..5 {
            statistics.record_sent();
        }
        for _ in 0..3 {
            statistics.record_reply(Duration::from_millis(1));
        }
        let from = IpAddr::from([192, 0, 2, 9]);
        statistics.record_error(crate::net::IcmpError {
            sender: from,
            icmp_type: 3,
            icmp_code: 1,
            mtu: None,
        });
        for (threshold, passes) in [(1.0, false), (40.0, false), (41.0, true), (100.0, true)] {
            let probe = PingProbe {
                endpoint: Endpoint::new("a.test", 0),
                request_count: 5,
                payload_bytes: 56,
                loss_threshold_percent: threshold,
            };
            let loss_result = probe.check_loss(IpAddr::from([192, 0, 2, 1]), &statistics);
            assert_eq!(loss_result.is_ok(), passes, "{threshold}");
            if let Err(failure) = loss_result {
                assert_eq!(failure.kind, FailureKind::PingLossTooHigh);
                assert!(failure.detail.contains("2 of 5") && failure.detail.contains("type 3, code 1"));
                assert!(failure.detail.contains("192.0.2.9 reported: host unreachable"), "{failure}");
            }
        }
    }
}
