//! The interface to the alert engine and to delivery.

use crate::domain::{EpisodeId, MonitorId};
use crate::store::StoreFuture;

/// The door to what decides about alerts and to what delivers messages.
pub trait Watchman: Send + Sync + 'static {
    /// Somebody acknowledged the open outage `episode` of `monitor`, which is kept already: it is told no more,
    /// but its end is.
    fn acknowledged(&self, monitor: MonitorId, episode: EpisodeId) -> StoreFuture<'_, ()>;

    /// There is something new to be delivered.
    fn ring(&self);
}

/// Where nothing decides and nothing delivers, as in tests of the APIs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatchman;

impl Watchman for NoWatchman {
    fn acknowledged(&self, _: MonitorId, _: EpisodeId) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn ring(&self) {}
}
