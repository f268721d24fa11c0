//! The task that exports results.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::batch::{BatchSender, LogTimes};
use super::client::OtlpClient;
use super::handle::{OtlpHandle, OtlpShared};
use super::queue::ResultQueue;
use super::settings::OtlpSettings;
use crate::clock::Clock;
use crate::net::Net;
use crate::sync::Mutex;
use crate::telemetry::{Metrics, SupervisedTask, TaskFuture, TaskHeartbeat};

/// Exports results by OTLP until it is drained.
pub struct OtlpExporter {
    shared: Arc<OtlpShared>,
    sender: BatchSender,
    metrics: Arc<Metrics>,
    heartbeat: TaskHeartbeat,
    /// Results that are being sent. After a panic they are given up, since they may be its cause.
    sending: usize,
}

impl OtlpExporter {
    /// Creates the task, to be run, and its handle. Without `settings` it waits for some.
    #[must_use]
    pub fn new(
        settings: Option<OtlpSettings>,
        net: &Net,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        heartbeat: TaskHeartbeat,
    ) -> (OtlpHandle, Self) {
        let shared = Arc::new(OtlpShared {
            queue: ResultQueue::new(Arc::clone(&metrics)),
            settings: watch::Sender::new(settings.map(Arc::new)),
            drain_until: watch::Sender::new(None),
            ended: CancellationToken::new(),
        });
        let sender = BatchSender {
            shared: Arc::clone(&shared),
            client: OtlpClient::new(net, Arc::clone(&clock)),
            clock,
            metrics: Arc::clone(&metrics),
            heartbeat: heartbeat.clone(),
            log_times: Mutex::new(LogTimes::default()),
        };
        let task = Self { shared: Arc::clone(&shared), sender, metrics, heartbeat, sending: 0 };
        (OtlpHandle { shared }, task)
    }

    async fn run_loop(&mut self) {
        self.metrics.otlp().record_dropped("panic", std::mem::take(&mut self.sending));
        let mut settings_changes = self.shared.settings.subscribe();
        let mut drain_until = self.shared.drain_until.subscribe();
        loop {
            let settings = settings_changes.borrow_and_update().clone();
            let deadline = *drain_until.borrow_and_update();
            let Some(settings) = settings else {
                self.shared.queue.clear("disabled");
                if deadline.is_some() {
                    return;
                }
                self.heartbeat.mark_idle();
                tokio::select! {
                    _ = settings_changes.changed() => {}
                    _ = drain_until.changed() => {}
                }
                continue;
            };
            match deadline {
                Some(deadline) if self.shared.queue.is_empty() || Instant::now() >= deadline => return,
                Some(_) => {}
                None => {
                    self.heartbeat.mark_idle();
                    tokio::select! {
                        () = self.shared.queue.wait_for_batch(settings.max_batch_results, settings.flush_interval) => {}
                        _ = settings_changes.changed() => continue,
                        _ = drain_until.changed() => continue,
                    }
                }
            }
            self.sender.log_dropped();
            let checks = self.shared.queue.take(settings.max_batch_results);
            if checks.is_empty() {
                continue;
            }
            self.sending = checks.len();
            self.heartbeat.beat();
            self.sender.send(&settings, Arc::new(checks)).await;
            self.sending = 0;
        }
    }
}

impl SupervisedTask for OtlpExporter {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            self.run_loop().await;
            let lost = self.shared.queue.clear("shutdown");
            if lost > 0 {
                tracing::warn!(
                    results = lost,
                    "results were not exported by OTLP before the process stopped"
                );
            }
            self.heartbeat.mark_idle();
            self.shared.ended.cancel();
        })
    }
}
