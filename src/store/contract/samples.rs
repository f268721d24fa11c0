//! Reads results for figures.

use super::future::StoreFuture;
use crate::domain::{MeanDuration, MonitorId, Sample, Timestamp};

/// Reads results for figures.
pub trait SampleStore: Send + Sync + 'static {
    /// The checks of a monitor whose runs were planned in `from..thru`, in the order of runs, at most `most`.
    fn samples(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        thru: Timestamp,
        max: u32,
    ) -> StoreFuture<'_, Vec<Sample>>;

    /// The planned time of the oldest result of a monitor that is still kept.
    fn oldest_planned_at(&self, monitor: MonitorId) -> StoreFuture<'_, Option<Timestamp>>;

    /// The mean times at each location of the checks that passed and were planned in `from..thru`.
    fn means(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        thru: Timestamp,
    ) -> StoreFuture<'_, Vec<MeanDuration>>;
}
