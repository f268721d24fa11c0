//! What the metrics need of the last result of each monitor: kept since it was stored, or read again after a start.

use std::sync::Arc;

use futures::future::try_join_all;

use crate::store::{MonitorLocationState, ResultStore, StoreError};
use crate::telemetry::{LastFigures, ResultFigures};

/// Most results that are read at once: with captures and steps, one may take a hundred kilobytes.
const CHUNK_RESULTS: usize = 200;
/// How many such reads run at once.
const PARALLEL_READS: usize = 2;

/// Returns the figures of the last result of each of `states`, in their order; empty ones for a result that is not stored
/// any more. `last_figures` keeps what is read.
pub(super) async fn figures_of(
    last_figures: &LastFigures,
    result_store: &dyn ResultStore,
    states: &[MonitorLocationState],
) -> Result<Vec<Arc<ResultFigures>>, StoreError> {
    let known =
        last_figures.get(states.iter().map(|state| (state.monitor_id, state.location_id, state.check_id)));
    let nothing: Arc<ResultFigures> = Arc::default();
    let missing: Vec<usize> =
        known.iter().zip(0..).filter_map(|(known, index)| known.is_none().then_some(index)).collect();
    let mut figures: Vec<_> =
        known.into_iter().map(|known| known.unwrap_or_else(|| Arc::clone(&nothing))).collect();
    // States are copied a chunk at a time: after a start, the figures of all monitors are missing.
    for wanted in missing.chunks(CHUNK_RESULTS * PARALLEL_READS) {
        let mut reads = Vec::with_capacity(PARALLEL_READS);
        for chunk in wanted.chunks(CHUNK_RESULTS) {
            let states = chunk.iter().filter_map(|index| states.get(*index).cloned()).collect();
            reads.push(result_store.results_for_states(states));
        }
        let results: Vec<_> = try_join_all(reads).await?.into_iter().flatten().collect();
        let mut read = Vec::with_capacity(results.len());
        for (index, result) in wanted.iter().zip(&results) {
            if let (Some(place), Some(result)) = (figures.get_mut(*index), result) {
                *place = Arc::new(ResultFigures::from_result(result));
                read.push((result, Arc::clone(place)));
            }
        }
        last_figures.keep(read);
    }
    Ok(figures)
}
