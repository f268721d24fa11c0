//! What users do with outages and messages, brought to whoever decides and delivers.

use std::sync::Arc;

use crate::domain::{EpisodeId, MonitorId};
use crate::pipeline::{Ingestor, Wakeup};
use crate::service::AlertControl;
use crate::store::StoreFuture;

/// The way to the loop that decides, and to the delivery.
pub(super) struct LocalAlertControl {
    pub(super) wakeup: Wakeup,
    pub(super) ingestor: Arc<Ingestor>,
}

impl AlertControl for LocalAlertControl {
    fn acknowledge_episode(&self, monitor: MonitorId, episode: EpisodeId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.ingestor.acknowledge_episode(monitor, episode).await;
            Ok(())
        })
    }

    fn wake_delivery(&self) {
        self.wakeup.wake();
    }
}
