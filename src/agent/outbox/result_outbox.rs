//! The outbox of an agent: it takes results from the runner and delivers them over the bus.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::delivery_state::Progress;
use super::delivery_states::DeliveryStates;
use super::outbox_parts::OutboxParts;
use super::spooled::Spooled;
use super::tasks::OutboxTasks;
use crate::bus::contract::{BusFuture, DeliveryReports, ResultSink, ResultTransport, SpoolLoad};
use crate::clock::Clock;
use crate::domain::{CheckId, CheckResult};
use crate::spool::Spool;
use crate::sync::Mutex;
use crate::telemetry::TaskHeartbeat;

/// Results on their way to the disk; further ones wait in the runner.
const QUEUE_CAPACITY: usize = 1_024;

/// What an outbox works with.
pub struct OutboxDependencies {
    /// Keeps what is not committed.
    pub spool: Spool,
    /// Sends it.
    pub transport: Arc<dyn ResultTransport>,
    /// Supplies the time of what is kept.
    pub clock: Arc<dyn Clock>,
    /// Of the tasks.
    pub heartbeat: TaskHeartbeat,
}

/// Delivers the results of an agent: it keeps each on disk, sends it at once, and again until it is committed.
pub struct ResultOutbox {
    parts: Arc<OutboxParts>,
    /// `None` once it drains.
    sender: Mutex<Option<mpsc::Sender<CheckResult>>>,
    /// Cancelled once everything that was taken is on disk or sent.
    drained: CancellationToken,
}

impl ResultOutbox {
    /// Creates the outbox and its tasks, to be run. What the spool holds is sent again.
    #[must_use]
    pub fn new(dependencies: OutboxDependencies) -> (Arc<Self>, OutboxTasks) {
        let OutboxDependencies { spool, transport, clock, heartbeat } = dependencies;
        let spooled = Spooled::new(spool);
        let mut states = DeliveryStates::default();
        for (check_id, has_captures) in spooled.contents() {
            states.insert(check_id, Progress::Waiting, has_captures);
        }
        let parts = Arc::new(OutboxParts {
            spooled,
            states: Mutex::new(states),
            transport,
            clock,
            wake_backlog: Notify::new(),
            wake_captures: Notify::new(),
        });
        let (sender, receiver) = mpsc::channel(QUEUE_CAPACITY);
        let drained = CancellationToken::new();
        let tasks = OutboxTasks::new(Arc::clone(&parts), receiver, drained.clone(), heartbeat);
        (Arc::new(Self { parts, sender: Mutex::new(Some(sender)), drained }), tasks)
    }

    /// Returns what waits on disk.
    #[must_use]
    pub fn spool_load(&self) -> SpoolLoad {
        let (waiting, _) = self.parts.states.lock().waiting_and_unconfirmed();
        SpoolLoad { waiting_results: waiting as u64, ..self.parts.spooled.load() }
    }

    /// Takes no more results, and waits until those that it took are on disk and were sent once.
    pub async fn drain(&self) {
        drop(self.sender.lock().take());
        self.drained.cancelled().await;
    }

    /// Has what waits sent now: the bus is connected again.
    pub fn wake(&self) {
        self.parts.wake_backlog.notify_one();
        self.parts.wake_captures.notify_one();
    }
}

impl ResultSink for ResultOutbox {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        Box::pin(async move {
            let sender = self.sender.lock().clone();
            let check_id = result.check_id;
            let sent = match sender {
                Some(sender) => sender.send(result).await.is_ok(),
                None => false,
            };
            if !sent {
                tracing::error!(%check_id, "result lost: it arrived after shutdown");
            }
        })
    }
}

impl DeliveryReports for ResultOutbox {
    fn on_committed(&self, checks: &[CheckId], captured: &[CheckId]) {
        self.parts.states.lock().mark_committed(checks, captured, Instant::now());
        self.parts.wake_backlog.notify_one();
        self.parts.wake_captures.notify_one();
    }

    fn on_controller_status(&self, timeline: &str, is_caught_up: bool) {
        if self.parts.states.lock().on_controller_status(timeline, is_caught_up, Instant::now()) {
            tracing::warn!("the control plane may lack results that were delivered: they are sent again");
            self.wake();
        }
    }
}
