//! What locations ask the control plane about hosts and pushes.

use super::future::BusFuture;
use crate::domain::{LocationId, MonitorId, ReportedState, ReportedStateError};

/// Knows what hosts reported and jobs pushed.
pub trait ReportedStateSource: Send + Sync + 'static {
    /// Returns what is known of a monitor, if `location` may check it.
    fn reported_state(
        &self,
        location: LocationId,
        monitor: MonitorId,
    ) -> BusFuture<'_, Result<ReportedState, ReportedStateError>>;
}
