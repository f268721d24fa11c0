//! Keeps the statistics of monitors that pages show: they change by the hour, and a page is made every second.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{MonitorId, Pagination, Rollup, RollupQuery, RollupStep, Timestamp};
use crate::store::{ResultStore, StoreError};
use crate::sync::Mutex;

/// How long statistics are shown.
const TTL: Duration = Duration::from_mins(1);
/// Most statistics that are kept, over all lists: some tens of megabytes.
const MAX_KEPT: usize = 100_000;
/// Most statistics of a list: 90 days, or a week of hours, at a hundred locations.
const MAX_ROLLUPS: u32 = 20_000;

/// What was read, and when.
type Entry = (Instant, Arc<[Rollup]>);
/// Monitor, step and start.
type Key = (MonitorId, RollupStep, Timestamp);

/// Statistics that were read within the last minute.
#[derive(Default)]
pub(super) struct RollupCache {
    entries: Mutex<HashMap<Key, Entry>>,
}

impl RollupCache {
    /// Returns the statistics of a monitor by `step` since `from`, by location, oldest first.
    pub(super) async fn get(
        &self,
        result_store: &dyn ResultStore,
        monitor_id: MonitorId,
        step: RollupStep,
        (from, now): (Timestamp, Timestamp),
    ) -> Result<Arc<[Rollup]>, StoreError> {
        let key = (monitor_id, step, step.start_of(from));
        if let Some((_, rollups)) =
            self.entries.lock().get(&key).filter(|(read_at, _)| read_at.elapsed() < TTL)
        {
            return Ok(Arc::clone(rollups));
        }
        let query = RollupQuery {
            monitor_id,
            customer: None,
            location: None,
            step,
            from: key.2,
            until: now,
            with_browser_figures: false,
        };
        let page = result_store.rollup_points(query, Pagination { limit: MAX_ROLLUPS, offset: 0 }).await?;
        let rollups: Arc<[Rollup]> = page.map(|page| page.items).unwrap_or_default().into();
        let mut entries = self.entries.lock();
        entries.retain(|_, (read_at, _)| read_at.elapsed() < TTL);
        let kept: usize = entries.values().map(|(_, rollups)| rollups.len() + 1).sum();
        if kept + rollups.len() > MAX_KEPT {
            entries.clear();
        }
        entries.insert(key, (Instant::now(), Arc::clone(&rollups)));
        Ok(rollups)
    }
}
