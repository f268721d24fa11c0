//! What the metrics need of the last result of each monitor, such as its phases: kept for as long as that result is the
//! last one.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::try_join_all;

use crate::domain::{CheckId, LocationId, MonitorId};
use crate::export::ResultFigures;
use crate::store::{MonitorLocationState, ResultStore, StoreError};
use crate::sync::Mutex;

/// Most results that are read at once: with captures and steps, one may take a hundred kilobytes.
const CHUNK_RESULTS: usize = 200;
/// How many such reads run at once.
const PARALLEL_READS: usize = 2;

/// Figures of a result, with its id.
type Entry = (CheckId, Arc<ResultFigures>);

/// Figures of the last results, by monitor and location: about 150 bytes each.
#[derive(Default)]
pub(super) struct FiguresCache(Mutex<HashMap<(MonitorId, LocationId), Entry>>);

impl FiguresCache {
    /// Returns the figures of the last result of each of `states`, in their order; empty ones for a result that is not
    /// stored any more.
    pub(super) async fn load(
        &self,
        result_store: &dyn ResultStore,
        states: &[MonitorLocationState],
    ) -> Result<Vec<Arc<ResultFigures>>, StoreError> {
        let nothing: Arc<ResultFigures> = Arc::default();
        let mut missing: Vec<(usize, &MonitorLocationState)> = Vec::new();
        let mut figures: Vec<Arc<ResultFigures>> = Vec::with_capacity(states.len());
        {
            let entries = self.0.lock();
            for (state, index) in states.iter().zip(0..) {
                let entry = entries.get(&(state.monitor_id, state.location_id));
                let known = entry.filter(|(check_id, _)| *check_id == state.check_id);
                if known.is_none() {
                    missing.push((index, state));
                }
                figures.push(Arc::clone(known.map_or(&nothing, |(_, known)| known)));
            }
        }
        // States are copied a chunk at a time: after a start, those of all monitors are missing.
        for wanted in missing.chunks(CHUNK_RESULTS * PARALLEL_READS) {
            let mut reads = Vec::with_capacity(PARALLEL_READS);
            for chunk in wanted.chunks(CHUNK_RESULTS) {
                let states = chunk.iter().map(|(_, state)| (*state).clone()).collect();
                reads.push(result_store.results_for_states(states));
            }
            let results = try_join_all(reads).await?.into_iter().flatten();
            let mut entries = self.0.lock();
            for ((index, state), result) in wanted.iter().zip(results) {
                let read = result.map(|result| Arc::new(ResultFigures::from_result(&result)));
                let read = read.unwrap_or_else(|| Arc::clone(&nothing));
                entries.insert((state.monitor_id, state.location_id), (state.check_id, Arc::clone(&read)));
                if let Some(place) = figures.get_mut(*index) {
                    *place = read;
                }
            }
        }
        Ok(figures)
    }

    /// Removes those of monitors that do not exist any more, once there are many more than `monitor_count`.
    pub(super) fn forget_removed(&self, monitor_count: usize, exists: impl Fn(MonitorId) -> bool) {
        let mut entries = self.0.lock();
        if entries.len() > 2 * monitor_count + 1_000 {
            entries.retain(|(monitor, _), _| exists(*monitor));
        }
    }
}
