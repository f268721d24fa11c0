//! What checks of hosts ask the control plane.

use std::fmt::Debug;
use std::pin::Pin;

use crate::domain::{MonitorId, ReportedState, ReportedStateError};

/// The answer of a [`ReportSource`].
pub type ReportedStateFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ReportedState, ReportedStateError>> + Send + 'a>>;

/// Knows what hosts reported and jobs pushed.
pub trait ReportSource: Debug + Send + Sync + 'static {
    /// Returns what is known of a monitor now.
    fn reported_state(&self, monitor_id: MonitorId) -> ReportedStateFuture<'_>;
}
