//! The interface to the alert engine and to delivery.

use crate::domain::{EpisodeId, MonitorId};
use crate::store::StoreFuture;

/// The interface to the alert engine and the delivery.
pub trait AlertPipelineHandle: Send + Sync + 'static {
    /// Tells the alert engine that the open episode of `monitor` was acknowledged: its errors are no longer
    /// notified, its end still is.
    fn acknowledge_episode(&self, monitor: MonitorId, episode: EpisodeId) -> StoreFuture<'_, ()>;

    /// Wakes the delivery for new notifications.
    fn wake_delivery(&self);
}

/// Does nothing, for tests of the APIs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopAlertPipeline;

impl AlertPipelineHandle for NoopAlertPipeline {
    fn acknowledge_episode(&self, _: MonitorId, _: EpisodeId) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn wake_delivery(&self) {}
}
