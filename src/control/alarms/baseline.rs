//! The size of a page before the first result of this process: that of the last good one that was kept.

use crate::model::{CheckResult, LocationId, MonitorId, Outcome};
use crate::store::{Page, ResultFilter, Results};

use super::hear::page_bytes;
use super::watched::Watched;

/// Whether `result` has a page that there is nothing yet to compare with.
pub(super) fn is_missing(watched: &Watched, result: &CheckResult) -> bool {
    let known = watched.pages.iter().any(|(location, _)| *location == result.location_id);
    !known && page_bytes(result).is_some()
}

/// Decoded bytes of the last good page; `None` when there is none, or it cannot be read.
pub(super) async fn last_page(
    results: &dyn Results,
    monitor: MonitorId,
    location: LocationId,
) -> Option<u64> {
    let filter = ResultFilter {
        monitors: vec![monitor],
        location: Some(location),
        outcomes: vec![Outcome::Ok, Outcome::Warning],
        ..ResultFilter::default()
    };
    let page = results.results(filter, Page { limit: 1, offset: 0 }).await.ok()?;
    page.results.first().and_then(page_bytes)
}
