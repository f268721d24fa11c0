//! Which runs are settled (behaviour.md 5): a run whose locations have not all reported yet may still change.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::catalog::AccountSnapshot;
use crate::domain::{LocationId, Sample, Timestamp};
use crate::schedule::RunPlan;
use crate::schema::Monitor;

/// How long after its close a run is settled.
const CLOSE_GRACE: Duration = Duration::from_secs(10);

/// Filters the runs of a monitor that are settled.
pub(super) struct SettledRunFilter {
    /// `None` for a removed monitor, whose runs are over.
    plan: Option<RunPlan>,
    now: Timestamp,
}

impl SettledRunFilter {
    pub(super) fn new(monitor: Option<&Monitor>, account: &AccountSnapshot, now: Timestamp) -> Self {
        let plan = monitor.map(|monitor| {
            let pool: Vec<_> = account.location_pool_ids(monitor).into_iter().map(LocationId).collect();
            monitor.run_plan(&pool)
        });
        Self { plan, now }
    }

    /// Removes the samples of runs that are not settled. `samples` are complete runs, in their order.
    pub(super) fn retain_settled(&self, samples: &mut Vec<Sample>) {
        let Some(plan) = &self.plan else { return };
        let mut unsettled_runs = BTreeSet::new();
        for run in samples.chunk_by(|a, b| a.planned_at == b.planned_at).rev() {
            let planned_at = run[0].planned_at;
            if plan.closes_at(planned_at) + CLOSE_GRACE <= self.now {
                break;
            }
            let has_reported =
                |location: &LocationId| run.iter().any(|sample| sample.location_id == *location);
            if !plan.locations_of_run(planned_at).iter().all(has_reported) {
                unsettled_runs.insert(planned_at);
            }
        }
        samples.retain(|sample| !unsettled_runs.contains(&sample.planned_at));
    }
}
