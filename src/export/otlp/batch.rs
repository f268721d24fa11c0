//! Sends the checks of one batch: one request for each signal, repeated until the receiver takes it, refuses it, or the
//! time for it is over.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::backoff::retry_delay;
use super::check::ExportedCheck;
use super::client::OtlpClient;
use super::encoder::{EncodedBody, encode_body};
use super::handle::OtlpShared;
use super::model::Resource;
use super::response::SendOutcome;
use super::settings::OtlpSettings;
use super::signal::OtlpSignal;
use crate::clock::Clock;
use crate::sync::Mutex;
use crate::telemetry::{Metrics, TaskHeartbeat};

/// Most bytes of a body before compression; a larger one is sent in halves.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Time between two log lines about the same kind of trouble.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// What a batch needs to be sent.
pub(super) struct BatchSender {
    pub(super) shared: Arc<OtlpShared>,
    pub(super) client: OtlpClient,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) heartbeat: TaskHeartbeat,
    pub(super) log_times: Mutex<LogTimes>,
}

/// When trouble was logged last.
#[derive(Default)]
pub(super) struct LogTimes {
    failed: Option<Instant>,
    rejected: Option<Instant>,
    dropped: Option<Instant>,
}

/// How a request ended.
enum RequestEnd {
    Done,
    /// It has to be sent in smaller parts.
    Split,
}

impl BatchSender {
    /// Sends `checks`; returns once every signal was accepted, rejected or given up.
    pub(super) async fn send(&self, settings: &Arc<OtlpSettings>, checks: Arc<Vec<ExportedCheck>>) {
        let give_up_at = Instant::now() + settings.give_up_after;
        let signals = OtlpSignal::ALL.into_iter().filter(|signal| settings.signals.contains(*signal));
        let sending =
            signals.map(|signal| self.send_signal(settings, signal, Arc::clone(&checks), give_up_at));
        futures::future::join_all(sending).await;
    }

    /// Sends what `checks` have of `signal`, in halves if it is too large.
    async fn send_signal(
        &self,
        settings: &Arc<OtlpSettings>,
        signal: OtlpSignal,
        checks: Arc<Vec<ExportedCheck>>,
        give_up_at: Instant,
    ) {
        let mut parts = vec![checks];
        while let Some(part) = parts.pop() {
            // Every wait is bounded: signals that are sent side by side share the heartbeat.
            self.heartbeat.mark_idle_for(settings.give_up_after + settings.request_timeout);
            let Some(body) = self.encode(settings, signal, &part).await else { continue };
            let can_be_split = part.len() > 1;
            if !(can_be_split && body.json_bytes > MAX_BODY_BYTES) {
                let end = self.send_body(settings, signal, &body, give_up_at, can_be_split).await;
                if matches!(end, RequestEnd::Done) {
                    continue;
                }
            }
            let (first, second) = part.split_at(part.len() / 2);
            parts.push(Arc::new(second.to_vec()));
            parts.push(Arc::new(first.to_vec()));
        }
    }

    async fn encode(
        &self,
        settings: &Arc<OtlpSettings>,
        signal: OtlpSignal,
        checks: &Arc<Vec<ExportedCheck>>,
    ) -> Option<EncodedBody> {
        let (settings, checks, now) = (Arc::clone(settings), Arc::clone(checks), self.clock.now());
        let encode = move || {
            let resource = Resource::new(&settings.resource_attributes);
            encode_body(signal, &resource, &checks, now, settings.compresses)
        };
        match tokio::task::spawn_blocking(encode).await {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => {
                tracing::error!(error = %error, "failed to encode {} for the export", signal.item_name());
                None
            }
            // It panicked, which is logged, or the process ends.
            Err(_) => None,
        }
    }

    async fn send_body(
        &self,
        settings: &Arc<OtlpSettings>,
        signal: OtlpSignal,
        body: &EncodedBody,
        give_up_at: Instant,
        can_be_split: bool,
    ) -> RequestEnd {
        let items = body.items as u64;
        let mut drain_until = self.shared.drain_until.subscribe();
        let mut settings_changes = self.shared.settings.subscribe();
        let (mut settings, mut failures) = (Arc::clone(settings), 0);
        loop {
            let outcome = tokio::select! {
                outcome = self.client.send(&settings, signal, body) => outcome,
                () = wait_for_drain_end(drain_until.clone()) => {
                    return self.give_up(signal, items, "the process stops");
                }
            };
            let (detail, retry_after) = match outcome {
                SendOutcome::Accepted { rejected, message } => {
                    self.record_accepted(signal, items, rejected, &message, failures > 0);
                    return RequestEnd::Done;
                }
                SendOutcome::TooLarge { .. } if can_be_split => return RequestEnd::Split,
                SendOutcome::TooLarge { detail } | SendOutcome::Rejected { detail } => {
                    self.record_rejected(signal, items, &detail);
                    return RequestEnd::Done;
                }
                SendOutcome::RetryLater { detail, retry_after } => (detail, retry_after),
            };
            failures += 1;
            self.log_failure(signal, &detail);
            self.log_dropped();
            let deadline = drain_until.borrow_and_update().map_or(give_up_at, |drain| drain.min(give_up_at));
            let next_attempt = Instant::now() + retry_delay(failures, retry_after, jitter());
            if next_attempt >= deadline {
                return self.give_up(signal, items, &detail);
            }
            self.metrics.otlp().record_retry(signal.name());
            tokio::select! {
                () = tokio::time::sleep_until(next_attempt) => {}
                // At shutdown there is one more attempt at once, and with other settings.
                _ = drain_until.changed() => {}
                _ = settings_changes.changed() => match &*settings_changes.borrow_and_update() {
                    Some(changed) => settings = Arc::clone(changed),
                    None => return self.give_up(signal, items, "the export was switched off"),
                },
            }
        }
    }

    fn record_accepted(
        &self,
        signal: OtlpSignal,
        items: u64,
        rejected: u64,
        message: &str,
        is_recovered: bool,
    ) {
        let rejected = rejected.min(items);
        self.metrics.otlp().record_items(signal.name(), "accepted", items - rejected);
        if is_recovered {
            tracing::info!("sending {} by OTLP works again", signal.item_name());
            self.log_times.lock().failed = None;
        }
        if rejected > 0 || !message.is_empty() {
            self.metrics.otlp().record_items(signal.name(), "rejected", rejected);
            if self.is_due(|times| &mut times.rejected) {
                tracing::warn!(
                    error = message,
                    "the OTLP receiver rejected {rejected} of {items} {}",
                    signal.item_name()
                );
            }
        }
    }

    fn record_rejected(&self, signal: OtlpSignal, items: u64, detail: &str) {
        self.metrics.otlp().record_items(signal.name(), "rejected", items);
        if self.is_due(|times| &mut times.rejected) {
            tracing::error!(
                error = detail,
                "failed to send {items} {} by OTLP; they are lost",
                signal.item_name()
            );
        }
    }

    fn give_up(&self, signal: OtlpSignal, items: u64, detail: &str) -> RequestEnd {
        self.metrics.otlp().record_items(signal.name(), "given_up", items);
        let name = signal.item_name();
        tracing::error!(error = detail, "gave up sending {items} {name} by OTLP; they are lost");
        RequestEnd::Done
    }

    fn log_failure(&self, signal: OtlpSignal, detail: &str) {
        if self.is_due(|times| &mut times.failed) {
            tracing::warn!(error = detail, "failed to send {} by OTLP, retrying", signal.item_name());
        }
    }

    /// Logs how many results did not fit into the queue, at most once a minute.
    pub(super) fn log_dropped(&self) {
        if !self.is_due(|times| &mut times.dropped) {
            return;
        }
        let dropped = self.shared.queue.take_dropped();
        if dropped > 0 {
            tracing::warn!(
                results = dropped,
                "results dropped before their export by OTLP: too many wait (setting `otlp.queue`)"
            );
        } else {
            self.log_times.lock().dropped = None;
        }
    }

    /// Whether the last log line of this kind is old enough; then the next one is counted from now on.
    fn is_due(&self, last: impl Fn(&mut LogTimes) -> &mut Option<Instant>) -> bool {
        let mut times = self.log_times.lock();
        let last = last(&mut times);
        let is_due = last.is_none_or(|last| last.elapsed() >= LOG_INTERVAL);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}

/// Waits until the time for the last requests of the process is over.
async fn wait_for_drain_end(mut drain_until: watch::Receiver<Option<Instant>>) {
    let deadline = match drain_until.wait_for(Option::is_some).await {
        Ok(deadline) => *deadline,
        Err(_) => None,
    };
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Returns a random number; 0 without entropy, on which nothing depends.
fn jitter() -> u8 {
    let mut byte = [0];
    let _ = aws_lc_rs::rand::fill(&mut byte);
    byte[0]
}
