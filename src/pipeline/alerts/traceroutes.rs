//! Traceroutes on errors: from the location of the failed check, rate-limited, added to the result as evidence
//! (behaviour.md 6).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::WeakSender;

use super::command::IngestCommand;
use super::settings::AlertEngineDependencies;
use crate::domain::{CapturedFile, LocationId, NewNotification, Timestamp};
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
    /// Each location's traceroutes that may start now, and when that number was last updated.
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
        let (tokens, refilled_at) = self.token_buckets.entry(location).or_insert((BURST_PER_LOCATION, now));
        // A clock that was set back adds nothing.
        let elapsed_s = if now > *refilled_at { now.since(*refilled_at).as_secs_f64() } else { 0.0 };
        (*tokens, *refilled_at) =
            ((*tokens + elapsed_s * TRACEROUTES_PER_SECOND).min(BURST_PER_LOCATION), now);
        let is_allowed = *tokens >= 1.0;
        if is_allowed {
            *tokens -= 1.0;
        }
        is_allowed
    }

    /// Starts a traceroute; its outcome is sent as a command.
    pub(super) fn start(
        &self,
        job: TracerouteJob,
        dependencies: &AlertEngineDependencies,
        command_sender: WeakSender<IngestCommand>,
    ) {
        let (permits, planner) = (Arc::clone(&self.permits), Arc::clone(&dependencies.planner));
        let TracerouteJob { monitor, result_key: traced_result_key, peer_address: address, notifications } =
            job;
        let traceroute_task = tokio::spawn(async move {
            let _permit = permits.acquire().await.ok()?;
            match planner.run_traceroute(monitor, traced_result_key.location_id, address).await {
                Ok(output_file) => Some(output_file),
                Err(error) => {
                    tracing::debug!(check_id = %traced_result_key.check_id, error = %error, "traceroute failed");
                    None
                }
            }
        });
        tokio::spawn(async move {
            // A panic in the task is logged already; the traceroute notifications are then dropped.
            let output_file = traceroute_task.await.ok().flatten();
            let notifications = output_file
                .as_ref()
                .map(|output_file| with_traceroute_text(notifications, output_file))
                .unwrap_or_default();
            if let Some(command_sender) = command_sender.upgrade() {
                // Fails only at the end of the process.
                let _ = command_sender
                    .send(IngestCommand::TracerouteDone {
                        result_key: traced_result_key,
                        output_file,
                        notifications,
                    })
                    .await;
            }
        });
    }
}

/// Adds the text of the file to the messages.
fn with_traceroute_text(mut messages: Vec<NewNotification>, file: &CapturedFile) -> Vec<NewNotification> {
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
        let (mut runner, start) = (TracerouteRunner::default(), Timestamp::from_seconds(1000));
        let admitted_count = |runner: &mut TracerouteRunner, location, now| {
            (0..100).filter(|_| runner.try_acquire(LocationId(location), now)).count()
        };
        assert_eq!(admitted_count(&mut runner, 1, start), 20);
        assert_eq!(admitted_count(&mut runner, 2, start), 20);
        assert_eq!(admitted_count(&mut runner, 1, start + Duration::from_secs(10)), 5);
        assert_eq!(admitted_count(&mut runner, 1, start), 0, "a clock that was set back gives nothing");
        assert_eq!(admitted_count(&mut runner, 1, start + Duration::from_hours(5)), 20);
    }
}
