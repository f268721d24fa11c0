//! The interface to the alert engine and to delivery.

use crate::domain::{EpisodeId, MonitorId};
use crate::store::StoreFuture;

/// The door to what decides about alerts and to what delivers messages.
pub trait AlertControl: Send + Sync + 'static {
    /// Somebody acknowledged the open outage `episode` of `monitor`, which is kept already: it is told no more,
    /// but its end is.
    fn acknowledge_episode(&self, monitor: MonitorId, episode: EpisodeId) -> StoreFuture<'_, ()>;

    /// There is something new to be delivered.
    fn wake_delivery(&self);
}

/// Where nothing decides and nothing delivers, as in tests of the APIs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAlertControl;

impl AlertControl for NoAlertControl {
    fn acknowledge_episode(&self, _: MonitorId, _: EpisodeId) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn wake_delivery(&self) {}
}
