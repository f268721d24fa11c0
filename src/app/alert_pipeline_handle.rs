//! Connects the alert service with the alert engine and the delivery of this process.

use std::sync::Arc;

use crate::domain::{EpisodeId, MonitorId};
use crate::pipeline::{DeliveryWakeup, Ingestor};
use crate::service::AlertPipelineHandle;
use crate::store::StoreFuture;

/// Controls the ingest loop and the delivery.
pub(super) struct LocalAlertPipeline {
    pub(super) delivery_wakeup: DeliveryWakeup,
    pub(super) ingestor: Arc<Ingestor>,
}

impl AlertPipelineHandle for LocalAlertPipeline {
    fn acknowledge_episode(&self, monitor: MonitorId, episode: EpisodeId) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.ingestor.acknowledge_episode(monitor, episode).await;
            Ok(())
        })
    }

    fn wake_delivery(&self) {
        self.delivery_wakeup.wake();
    }
}
