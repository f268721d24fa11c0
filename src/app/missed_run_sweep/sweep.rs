//! One sweep over the monitors: finds and records missed runs.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::remote_agents::{AgentsState, RemoteAgents};
use super::swept_location::SweptLocation;
use crate::app::local_planner::{LocalPlanner, PlannedMonitor, PlannedMonitorPage};
use crate::bus::contract::ResultReceiver;
use crate::clock::Clock;
use crate::domain::{CheckResult, LocationId, MissedReason, MissedRuns, MonitorId, Timestamp};
use crate::schedule::{LocationSlotGrid, MissedSlots};
use crate::store::{MissedRunStore, PlannedRuns, StoreError};
use crate::telemetry::{Metrics, TaskHeartbeat};

/// Number of monitors that are looked at together.
const PAGE_MONITORS: usize = 1_000;
/// How long after a change of its plan a monitor may have no agent yet.
const ASSIGNMENT_TIME: Duration = Duration::from_secs(10);

/// Supplies the planned runs of monitors.
pub(in crate::app) trait PlanSource: Send + Sync {
    /// Returns the next `max` active monitors from `id` on, with their runs.
    fn planned_monitors(&self, id: MonitorId, max: usize) -> PlannedMonitorPage;
}

impl PlanSource for LocalPlanner {
    fn planned_monitors(&self, id: MonitorId, max: usize) -> PlannedMonitorPage {
        Self::planned_monitors(self, id, max)
    }
}

/// What a sweep works with.
pub(in crate::app) struct MissedRunSweep {
    pub(in crate::app) plans: Arc<dyn PlanSource>,
    pub(in crate::app) agents: Arc<dyn RemoteAgents>,
    pub(in crate::app) receiver: Arc<dyn ResultReceiver>,
    pub(in crate::app) store: Arc<dyn MissedRunStore>,
    pub(in crate::app) metrics: Arc<Metrics>,
    pub(in crate::app) clock: Arc<dyn Clock>,
    /// How long a result may take from the end of its check until it is stored.
    pub(in crate::app) missed_after: Duration,
}

/// The part of the time of a location that a sweep looks at.
#[derive(Clone, Copy)]
struct SweepWindow {
    /// Runs that had to be done until then are recorded already.
    after: Timestamp,
    /// Runs that had to be done until then are looked at.
    until: Timestamp,
    last_offline_at: Option<Timestamp>,
}

/// The runs of a monitor at a location that a sweep looks at.
struct CandidateRuns<'m> {
    planned: &'m PlannedMonitor,
    location_id: LocationId,
    grid: LocationSlotGrid,
    slots: RangeInclusive<Timestamp>,
    last_offline_at: Option<Timestamp>,
}

impl MissedRunSweep {
    /// Returns how far the store has the missed runs of each location recorded.
    pub(super) async fn load(&self) -> Result<HashMap<LocationId, SweptLocation>, StoreError> {
        let sweeps = self.store.missed_run_sweeps().await?;
        let to_swept =
            |(location, swept_until)| (location, SweptLocation { swept_until, last_offline_at: None });
        Ok(sweeps.into_iter().map(to_swept).collect())
    }

    /// Records the missed runs of every location, as far as that is due.
    pub(super) async fn run(
        &self,
        swept: &mut HashMap<LocationId, SweptLocation>,
        heartbeat: &TaskHeartbeat,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let locations = self.agents.locations();
        let is_new = |location: &LocationId| !swept.contains_key(location);
        let added: Vec<_> = locations.iter().copied().filter(is_new).collect();
        if !added.is_empty() {
            let new = SweptLocation::new(now - self.missed_after);
            let stored = added.iter().map(|location| (*location, new.swept_until)).collect();
            self.store.set_missed_run_sweeps(stored).await?;
            swept.extend(added.into_iter().map(|location| (location, new)));
        }
        loop {
            let windows: HashMap<_, _> = locations
                .iter()
                .filter_map(|location| {
                    Some((*location, self.next_window(*location, swept.get_mut(location)?, now)?))
                })
                .collect();
            if windows.is_empty() {
                return Ok(());
            }
            self.record_missed_runs(&windows, heartbeat).await?;
            self.receiver.wait_until_committed().await;
            let until = windows.iter().map(|(location, window)| (*location, window.until)).collect();
            self.store.set_missed_run_sweeps(until).await?;
            for (location, window) in windows {
                if let Some(swept) = swept.get_mut(&location) {
                    swept.swept_until = window.until;
                }
            }
        }
    }

    fn next_window(
        &self,
        location: LocationId,
        swept: &mut SweptLocation,
        now: Timestamp,
    ) -> Option<SweepWindow> {
        let agents = self.agents.agents_state(location);
        if agents == AgentsState::Offline {
            swept.last_offline_at = Some(now);
        }
        let until = swept.next_sweep_until(agents, now - self.missed_after)?;
        Some(SweepWindow { after: swept.swept_until, until, last_offline_at: swept.last_offline_at })
    }

    /// Records the missed runs of all monitors within `windows`.
    async fn record_missed_runs(
        &self,
        windows: &HashMap<LocationId, SweepWindow>,
        heartbeat: &TaskHeartbeat,
    ) -> Result<(), StoreError> {
        let mut next_id = Some(MonitorId(i64::MIN));
        while let Some(id) = next_id {
            heartbeat.beat();
            let page = self.plans.planned_monitors(id, PAGE_MONITORS);
            next_id = page.next_id;
            let candidates: Vec<_> =
                page.monitors.iter().flat_map(|planned| candidate_runs(planned, windows)).collect();
            if candidates.is_empty() {
                tokio::task::yield_now().await;
                continue;
            }
            let runs = candidates.iter().map(CandidateRuns::planned_runs).collect();
            let recorded = self.store.recorded_runs(runs).await?;
            for (candidate, recorded) in candidates.iter().zip(recorded) {
                for slots in candidate.grid.unrecorded_slots(&candidate.slots, recorded) {
                    let result = candidate.missed_result(slots, self.clock.now());
                    self.metrics.record_result(&result);
                    self.receiver.deliver(result).await;
                }
            }
        }
        Ok(())
    }
}

/// Returns the runs of a monitor within `windows`, by location.
fn candidate_runs<'m>(
    planned: &'m PlannedMonitor,
    windows: &HashMap<LocationId, SweepWindow>,
) -> Vec<CandidateRuns<'m>> {
    let plan = &planned.run_plan;
    let of_location = |location_id: &LocationId| {
        let window = windows.get(location_id)?;
        let grid = LocationSlotGrid::new(plan.slot_grid, plan.location_rotation(*location_id)?);
        // It may start an interval late, and then has to end.
        let last_start = |time: Timestamp| time - plan.slot_grid.interval() - plan.max_check_duration;
        let planned_since = planned.planned_since + ASSIGNMENT_TIME;
        let last_swept = grid.last_slot_started(last_start(window.after)).max(planned_since);
        let slots = grid.next_slot_after(last_swept)..=grid.last_slot_started(last_start(window.until));
        let last_offline_at = window.last_offline_at;
        (!slots.is_empty()).then_some(CandidateRuns {
            planned,
            location_id: *location_id,
            grid,
            slots,
            last_offline_at,
        })
    };
    plan.location_pool.iter().filter_map(of_location).collect()
}

impl CandidateRuns<'_> {
    fn planned_runs(&self) -> PlannedRuns {
        PlannedRuns {
            monitor_id: self.planned.monitor.id,
            location_id: self.location_id,
            planned_at: self.slots.clone(),
        }
    }

    /// Returns the result of `slots`, which nobody recorded.
    fn missed_result(&self, slots: MissedSlots, now: Timestamp) -> CheckResult {
        let monitor = &self.planned.monitor;
        let was_offline = self.last_offline_at.is_some_and(|at| slots.first <= at);
        let missed = MissedRuns {
            reason: if was_offline { MissedReason::LocationOffline } else { MissedReason::NotRunning },
            run_count: u32::try_from(slots.count).unwrap_or(u32::MAX),
            last_planned_at: slots.last,
        };
        CheckResult::from_missed_runs(monitor.check_metadata(self.location_id), slots.first, now, missed)
    }
}
