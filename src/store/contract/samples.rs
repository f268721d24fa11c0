//! Read access to results for statistics.

use super::future::StoreFuture;
use crate::domain::{LocationMeanDuration, MonitorId, Sample, Timestamp};

/// Reads results for statistics.
pub trait SampleStore: Send + Sync + 'static {
    /// Returns the checks of a monitor planned in `from..until`, ordered by run, at most `max`.
    fn samples(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        until: Timestamp,
        max: u32,
    ) -> StoreFuture<'_, Vec<Sample>>;

    /// Returns the planned time of the oldest retained result of a monitor.
    fn oldest_planned_at(&self, monitor: MonitorId) -> StoreFuture<'_, Option<Timestamp>>;

    /// Returns the mean duration at each location of the passed checks planned in `from..until`.
    fn mean_durations(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        until: Timestamp,
    ) -> StoreFuture<'_, Vec<LocationMeanDuration>>;
}
