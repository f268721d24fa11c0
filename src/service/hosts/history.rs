//! The history of a host as series.

use std::time::Duration;

use super::host_service::HostService;
use crate::domain::{HostHistoryQuery, HostHistoryRow, HostId, HostSpan, Permission, Timestamp};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::prometheus::selector::MetricSelector;
use crate::syntax::prometheus::series_name::SeriesName;

/// Longest ranges of single reports and of blocks; a longer one is shown in the next longer span.
const MAX_REPORT_RANGE: Duration = Duration::from_hours(6);
const MAX_BLOCK_RANGE: Duration = Duration::from_hours(4 * 24);

/// Which part of the history to return.
#[derive(Clone, Debug)]
pub struct HostHistoryRequest {
    /// The host.
    pub host_id: HostId,
    /// The series; all when absent.
    pub selector: Option<MetricSelector>,
    /// Points from this time on.
    pub from: Timestamp,
    /// Points before this time.
    pub until: Timestamp,
    /// How long a point covers; chosen by the length of the range when absent.
    pub span: Option<HostSpan>,
}

impl HostService {
    /// Returns rows of the history of a host of the caller's account, the oldest first, with the selected series alone.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a host of another account.
    pub async fn history(
        &self,
        caller: &Caller,
        request: HostHistoryRequest,
    ) -> Result<Vec<HostHistoryRow>, ServiceError> {
        caller.require_permission(Permission::View)?;
        let HostHistoryRequest { host_id, selector, from, until, span } = request;
        self.find_of(caller.customer, host_id).await?.ok_or(ServiceError::NotFound)?;
        let span = span.unwrap_or_else(|| fitting_span(self.dependencies.clock.now(), from, until));
        let query = HostHistoryQuery { host_id, span, from, until };
        let mut rows = self.dependencies.host_store.host_history(query).await?;
        if let Some(selector) = selector {
            let is_selected =
                |series: &str| SeriesName::parse(series).is_ok_and(|series| selector.matches_series(&series));
            for row in &mut rows {
                row.values.retain(|value| is_selected(&value.series));
            }
            rows.retain(|row| !row.values.is_empty());
        }
        Ok(rows)
    }
}

/// Returns the shortest span that still has the start of the range and shows it with a few hundred points.
fn fitting_span(now: Timestamp, from: Timestamp, until: Timestamp) -> HostSpan {
    let (range, age) = (until.min(now).since(from), now.since(from));
    if range <= MAX_REPORT_RANGE && age <= HostSpan::Report.retention() {
        HostSpan::Report
    } else if range <= MAX_BLOCK_RANGE && age <= HostSpan::Block.retention() {
        HostSpan::Block
    } else {
        HostSpan::Hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_fits_the_range_and_its_age() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let hours = |hours: u64| now - Duration::from_hours(hours);
        assert_eq!(fitting_span(now, hours(3), now), HostSpan::Report);
        assert_eq!(fitting_span(now, hours(24), now), HostSpan::Block);
        assert_eq!(fitting_span(now, hours(60), hours(58)), HostSpan::Block);
        assert_eq!(fitting_span(now, hours(30 * 24), hours(30 * 24 - 1)), HostSpan::Hour);
    }
}
