//! Traceroutes on errors: from the location of the failed check, rate-limited, added to the result as evidence
//! (behaviour.md 6).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::WeakSender;

use super::command::IngestCommand;
use super::settings::AlertEngineDependencies;
use crate::domain::{Capture, LocationId, NewNotification, Timestamp};
use crate::schema::Monitor;
use crate::store::ResultKey;

/// Most traceroutes at once.
const MAX_CONCURRENT_TRACEROUTES: usize = 4;
/// Most traceroutes of a location in a burst.
const BURST_PER_LOCATION: f64 = 20.0;
/// Sustained rate of traceroutes of a location, per second.
const TRACEROUTES_PER_SECOND: f64 = 0.5;
/// Most bytes of the file that are copied into a message.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// A traceroute to start.
pub(super) struct TracerouteJob {
    pub(super) monitor: Monitor,
    pub(super) result_key: ResultKey,
    /// Peer address of the failed check.
    pub(super) peer_address: Option<IpAddr>,
    /// Notifications that are sent once it is complete.
    pub(super) notifications: Vec<NewNotification>,
}

/// Runs traceroutes and limits their rate.
pub(super) struct TracerouteRunner {
    permits: Arc<Semaphore>,
    token_buckets: HashMap<LocationId, (f64, Timestamp)>,
}

impl Default for TracerouteRunner {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_CONCURRENT_TRACEROUTES)), token_buckets: HashMap::new() }
    }
}

impl TracerouteRunner {
    /// Whether another traceroute may start at `location`; counts it if so.
    pub(super) fn try_acquire(&mut self, location: LocationId, now: Timestamp) -> bool {
        let (left, at) = self.token_buckets.entry(location).or_insert((BURST_PER_LOCATION, now));
        // A clock that was set back adds nothing.
        let since = if now > *at { now.since(*at).as_secs_f64() } else { 0.0 };
        (*left, *at) = ((*left + since * TRACEROUTES_PER_SECOND).min(BURST_PER_LOCATION), now);
        let admitted = *left >= 1.0;
        if admitted {
            *left -= 1.0;
        }
        admitted
    }

    /// Starts a traceroute; its outcome is sent as a command.
    pub(super) fn start(
        &self,
        trace: TracerouteJob,
        dependencies: &AlertEngineDependencies,
        commands: WeakSender<IngestCommand>,
    ) {
        let (permits, planner) = (Arc::clone(&self.permits), Arc::clone(&dependencies.planner));
        let TracerouteJob { monitor, result_key: result, peer_address: address, notifications: messages } =
            trace;
        let tracing = tokio::spawn(async move {
            let _permit = permits.acquire().await.ok()?;
            match planner.run_traceroute(monitor, result.location_id, address).await {
                Ok(file) => Some(file),
                Err(error) => {
                    tracing::debug!(check_id = %result.check_id, error = %error, "traceroute failed");
                    None
                }
            }
        });
        tokio::spawn(async move {
            // A panic in the task is logged already; the traceroute notifications are then dropped.
            let file = tracing.await.ok().flatten();
            let messages = file.as_ref().map(|file| with_traceroute_text(messages, file)).unwrap_or_default();
            if let Some(commands) = commands.upgrade() {
                // Fails only at the end of the process.
                let _ = commands
                    .send(IngestCommand::TracerouteDone {
                        result_key: result,
                        output_file: file,
                        notifications: messages,
                    })
                    .await;
            }
        });
    }
}

/// Adds the text of the file to the messages.
fn with_traceroute_text(mut messages: Vec<NewNotification>, file: &Capture) -> Vec<NewNotification> {
    let content = file.content.as_deref().unwrap_or_default();
    let text = String::from_utf8_lossy(content.get(..MAX_TEXT_BYTES).unwrap_or(content)).into_owned();
    for message in &mut messages {
        message.content.extra.insert("traceroute".to_owned(), text.clone().into());
    }
    messages
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_location_has_a_burst_and_a_rate_of_traceroutes() {
        let (mut traces, start) = (TracerouteRunner::default(), Timestamp::from_seconds(1000));
        let admitted = |traces: &mut TracerouteRunner, location, now| {
            (0..100).filter(|_| traces.try_acquire(LocationId(location), now)).count()
        };
        assert_eq!(admitted(&mut traces, 1, start), 20);
        assert_eq!(admitted(&mut traces, 2, start), 20);
        assert_eq!(admitted(&mut traces, 1, start + Duration::from_secs(10)), 5);
        assert_eq!(admitted(&mut traces, 1, start), 0, "a clock that was set back gives nothing");
        assert_eq!(admitted(&mut traces, 1, start + Duration::from_hours(5)), 20);
    }
}
