//! What a location delivers: results, and captures that follow them.

use super::future::BusFuture;
use crate::domain::{CapturedFile, CheckId, CheckResult, LocationId, MonitorId, Timestamp};

/// Receives results. `deliver` waits while the receiver is full; afterwards the receiver is responsible for the result:
/// it commits it, or puts it into its spool.
pub trait ResultSink: Send + Sync + 'static {
    /// Delivers one result. Captures that it holds are committed with it.
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()>;
}

/// Captures of a result that was delivered before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultCaptures {
    /// The check that they belong to.
    pub check_id: CheckId,
    /// Its monitor.
    pub monitor_id: MonitorId,
    /// Its location.
    pub location_id: LocationId,
    /// Planned time of its run.
    pub planned_at: Timestamp,
    /// The files, with their contents.
    pub files: Vec<CapturedFile>,
}

/// The control plane, as the part of the bus calls it that brings what an agent sent over a network.
pub trait ResultReceiver: ResultSink {
    /// Delivers captures that follow their result. Those of a result that is not stored are dropped.
    fn deliver_captures(&self, captures: ResultCaptures) -> BusFuture<'_, ()>;

    /// Waits until everything that was delivered before is committed or quarantined, so that it may be acknowledged.
    /// Waits for ever when the receiver ends before.
    fn wait_until_committed(&self) -> BusFuture<'_, ()>;
}
