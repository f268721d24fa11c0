//! Measures how far the clock of the control plane is ahead of that of the agent.

use std::time::Duration;

use tokio::time::Instant;

use super::agent_parts::AgentIdentity;
use crate::bus::messages::{BusMessage, ClockReplyMessage};
use crate::bus::nats::connection::NatsConnection;
use crate::bus::nats::subjects::AgentSubject;
use crate::clock::Clock;

/// Questions of one measurement: the reply that came back the fastest counts.
const SAMPLES: usize = 5;
/// How long a reply may take. A slower one would say little.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns by how many microseconds the clock of the control plane is ahead of `clock`; `None` without a reply.
///
/// As in NTP (RFC 5905, section 8), the time of the reply is compared with the middle of question and answer; the error
/// is at most half of the time between them.
pub async fn measure_clock_offset(
    connection: &NatsConnection,
    identity: AgentIdentity,
    clock: &dyn Clock,
) -> Option<i64> {
    let subject = AgentSubject::Clock.of(identity.location_id, identity.agent_id);
    let mut best: Option<(Duration, i64)> = None;
    for _ in 0..SAMPLES {
        let (started, asked_at) = (Instant::now(), clock.now());
        let request = async_nats::Request::new().timeout(Some(REPLY_TIMEOUT));
        let Ok(reply) = connection.client().send_request(subject.clone(), request).await else { continue };
        let round_trip = started.elapsed();
        let Ok(reply) = ClockReplyMessage::from_bytes(&reply.payload) else { continue };
        let middle = (asked_at + round_trip / 2).as_micros();
        let offset = reply.now_us.saturating_sub(middle);
        if best.is_none_or(|(fastest, _)| round_trip < fastest) {
            best = Some((round_trip, offset));
        }
    }
    best.map(|(_, offset)| offset)
}
