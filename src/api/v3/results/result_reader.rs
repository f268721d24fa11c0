//! Reads results page by page and sends them as one list.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::api::list_response;
use crate::domain::{CheckId, CheckResult, PaginatedResults, Pagination, ResultFilter, StoreError};
use crate::service::MonitorReader;
use crate::service::result_view::without_exchanges_and_objects;

/// Most results that are read and sent at a time.
const MAX_PAGE_RESULTS: u32 = 500;

pub(super) fn next_pagination(remaining: u64, offset: u64) -> Pagination {
    Pagination { limit: u32::try_from(remaining).unwrap_or(MAX_PAGE_RESULTS).min(MAX_PAGE_RESULTS), offset }
}

/// Reads results page by page. New results push older ones into the next page; such repeats are skipped.
pub(super) struct ResultReader {
    pub(super) monitor_reader: Arc<MonitorReader>,
    pub(super) filter: ResultFilter,
    pub(super) offset: u64,
    /// How many more results `limit` permits; 0 after the last page.
    pub(super) remaining: u64,
    pub(super) prefetched_page: Option<PaginatedResults>,
    /// Ids in the page that was sent last, whose repeats in the next one are skipped.
    pub(super) last_page_ids: HashSet<CheckId>,
}

impl ResultReader {
    pub(super) async fn next_chunk(mut self) -> Result<Option<(Vec<u8>, Self)>, StoreError> {
        let page = match self.prefetched_page.take() {
            Some(first) => first,
            None if self.remaining == 0 => return Ok(None),
            None => {
                self.monitor_reader
                    .results(self.filter.clone(), next_pagination(self.remaining, self.offset))
                    .await?
            }
        };
        let page_length = page.results.len() as u64;
        let planned_range = page.results.first().zip(page.results.last());
        let planned_range = planned_range.map(|(first, last)| (first.planned_at, last.planned_at));
        let count_at_last_time = page
            .results
            .iter()
            .filter(|result| planned_range.is_some_and(|(_, last)| result.planned_at == last));
        let count_at_last_time = count_at_last_time.count() as u64;
        let unsent = page.results.into_iter().filter(|result| !self.last_page_ids.contains(&result.check_id));
        let unsent: Vec<CheckResult> = unsent.map(without_exchanges_and_objects).collect();
        match planned_range {
            // Continue from the last time: with an offset, the store would scan all earlier results again.
            Some((first, last)) if first != last => {
                self.filter.until = Some(last + Duration::from_micros(1));
                self.offset = count_at_last_time;
            }
            _ => self.offset += page_length,
        }
        self.remaining = if page_length < u64::from(MAX_PAGE_RESULTS) {
            0
        } else {
            self.remaining.saturating_sub(unsent.len() as u64)
        };
        self.last_page_ids = unsent.iter().map(|result| result.check_id).collect();
        Ok(Some((list_response::json_chunk(&unsent), self)))
    }
}
