//! Takes results for the export, and controls its task.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::check::ExportedCheck;
use super::queue::ResultQueue;
use super::settings::OtlpSettings;

/// What the handle and the task share.
pub(super) struct OtlpShared {
    pub(super) queue: ResultQueue,
    /// `None` while nothing is exported.
    pub(super) settings: watch::Sender<Option<Arc<OtlpSettings>>>,
    /// Until when what waits may still be sent; set at shutdown.
    pub(super) drain_until: watch::Sender<Option<Instant>>,
    /// Cancelled once the task has ended.
    pub(super) ended: CancellationToken,
}

/// Takes results for the export. Cheap to clone.
#[derive(Clone)]
pub struct OtlpHandle {
    pub(super) shared: Arc<OtlpShared>,
}

impl OtlpHandle {
    /// Returns the settings; `None` while nothing is exported.
    #[must_use]
    pub fn settings(&self) -> Option<Arc<OtlpSettings>> {
        self.shared.settings.borrow().clone()
    }

    /// Replaces the settings, from the next request on. Without settings, what waits is dropped.
    pub fn set_settings(&self, settings: Option<OtlpSettings>) {
        self.shared.settings.send_replace(settings.map(Arc::new));
    }

    /// Adds `check` to what waits. Never waits itself: when too many wait, the oldest is dropped and counted.
    pub fn submit(&self, check: ExportedCheck) {
        let capacity = self.shared.settings.borrow().as_ref().map(|settings| settings.queue_capacity);
        if let Some(capacity) = capacity {
            self.shared.queue.push(check, capacity);
        }
    }

    /// Sends what waits, for at most `timeout`, and ends the task. What is left is dropped and counted.
    pub async fn drain(&self, timeout: Duration) {
        self.shared.drain_until.send_replace(Some(Instant::now() + timeout));
        // The task keeps the time itself; this covers a task that hangs.
        if tokio::time::timeout(timeout + Duration::from_secs(2), self.shared.ended.cancelled())
            .await
            .is_err()
        {
            tracing::warn!("the export by OTLP did not stop in time; what waited for it is lost");
        }
    }
}
