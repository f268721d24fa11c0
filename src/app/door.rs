//! What users do with outages and messages, brought to whoever decides and delivers.

use crate::control::{Bell, Watchman};
use crate::model::{EpisodeId, MonitorId};
use crate::store::Answer;

/// The way to the loop that decides, and to the delivery.
pub(super) struct Door {
    pub(super) bell: Bell,
}

impl Watchman for Door {
    fn acknowledged(&self, _: MonitorId, _: EpisodeId) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn ring(&self) {
        self.bell.ring();
    }
}
