//! Loads the last stored page, which the first result of this process is compared with.

use std::time::Duration;

use crate::domain::{CheckResult, LocationId, MonitorId, Outcome};
use crate::evaluate::page_comparison::PageBaseline;
use crate::store::{Pagination, ResultFilter, ResultStore, StoreError};

use super::location_results::passing_page_fingerprint;
use super::monitor_entry::{PageFingerprint, TrackedMonitor};

/// Whether `result` has a page but the entry has no baseline yet.
pub(super) fn needs_baseline(entry: &TrackedMonitor, result: &CheckResult) -> bool {
    let has_baseline = entry.last_pages.iter().any(|(location, _)| *location == result.location_id);
    !has_baseline && passing_page_fingerprint(result).is_some()
}

/// Converts `result` to an option; logs an error.
fn log_read_error<T>(monitor: MonitorId, result: Result<T, StoreError>) -> Option<T> {
    if let Err(error) = &result {
        tracing::error!(
            monitor_id = %monitor,
            error_kind = error.kind(),
            "failed to read the last page; changes of the page are not detected: {error}"
        );
    }
    result.ok()
}

/// Loads the page of the last passing result; `None` when there is none, or it cannot be read.
pub(super) async fn load_last_page(
    result_store: &dyn ResultStore,
    monitor_id: MonitorId,
    location_id: LocationId,
) -> Option<PageFingerprint> {
    let filter = ResultFilter {
        monitors: vec![monitor_id],
        location: Some(location_id),
        outcomes: vec![Outcome::Ok, Outcome::Warning],
        ..ResultFilter::default()
    };
    let page =
        log_read_error(monitor_id, result_store.results(filter, Pagination { limit: 1, offset: 0 }).await)?;
    page.results.first().and_then(passing_page_fingerprint)
}

/// Loads the objects of the last stored page; `None` when there is none, or it cannot be read.
pub(super) async fn load_last_objects(
    result_store: &dyn ResultStore,
    monitor_id: MonitorId,
    location_id: LocationId,
) -> Option<PageBaseline> {
    let states = log_read_error(monitor_id, result_store.monitor_states_for(vec![monitor_id]).await)?;
    let state = states.iter().find(|state| state.location_id == location_id)?;
    // The newest run planned before the full page check started is the run of that check.
    let planned_before = state.last_full_page_at? + Duration::from_micros(1);
    let filter = ResultFilter {
        monitors: vec![monitor_id],
        location: Some(location_id),
        until: Some(planned_before),
        ..ResultFilter::default()
    };
    let page =
        log_read_error(monitor_id, result_store.results(filter, Pagination { limit: 1, offset: 0 }).await)?;
    let full_page = page.results.first()?.details.page_load.as_deref()?;
    PageBaseline::from_page(full_page, None)
}
