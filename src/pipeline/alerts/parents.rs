//! What the alert engine knows of the monitors that another one depends on, and how it has them checked.

use super::batch::BatchContext;
use super::command::ParentCheckResult;
use super::engine::AlertEngine;
use super::parent_checks::ParentCheckRequest;
use super::tracked_monitor::{AlertInput, TrackedMonitor};
use crate::alerting::ParentState;
use crate::domain::{LocationId, MonitorId, Timestamp};
use crate::schedule::BlackoutTarget;

impl AlertEngine {
    /// Returns the status of each monitor that `monitor_id` depends on, without those that suppress nothing: they are
    /// removed, inactive, of another account or in a blackout.
    pub(super) fn parent_states(&self, monitor_id: MonitorId, now: Timestamp) -> Vec<ParentState> {
        let Some(child) = self.monitors.get(&monitor_id) else { return Vec::new() };
        let parents = child.parent_ids.iter().filter_map(|id| {
            let parent = self.find_parent(child, *id, now)?;
            Some(parent.alert_state.to_parent_state(*id))
        });
        parents.collect()
    }

    /// Returns the monitor `parent_id` if it can suppress errors of `child`.
    fn find_parent(
        &self,
        child: &TrackedMonitor,
        parent_id: MonitorId,
        now: Timestamp,
    ) -> Option<&TrackedMonitor> {
        let customer = child.monitor.customer;
        let is_usable = |parent: &&TrackedMonitor| parent.is_active && parent.monitor.customer == customer;
        let parent = self.monitors.get(&parent_id).filter(is_usable)?;
        let (account, _) = self.account_snapshots.get(customer)?;
        let is_blacked_out = [BlackoutTarget::Monitor(parent_id), BlackoutTarget::Alert(parent_id)]
            .into_iter()
            .any(|target| account.blackout_calendar.active_window(target, now).is_some());
        (!is_blacked_out).then_some(parent)
    }

    /// Has `parents` checked for a failing run of `monitor_id`. Its effects come before the remaining ones, as if they
    /// had followed at once.
    pub(super) fn request_parent_checks(
        &mut self,
        monitor_id: MonitorId,
        planned_at: Timestamp,
        failed_location: LocationId,
        parents: &[MonitorId],
        batch: &mut BatchContext,
    ) {
        if let Some(failed_parent) = self.parent_checks.recently_failed_parent(parents, batch.now) {
            let remaining_effects = std::mem::take(&mut batch.effects);
            self.on_input(monitor_id, AlertInput::ParentsChecked(planned_at, vec![failed_parent]), batch);
            batch.effects.extend(remaining_effects);
            return;
        }
        for parent in self.parent_checks.register_waiting_run((monitor_id, planned_at), parents) {
            self.start_parent_check(parent, Some(failed_location), batch);
        }
    }

    /// Takes the outcome of the check of `parent`, and answers the runs that waited for it.
    pub(super) fn on_parent_checked(
        &mut self,
        parent: MonitorId,
        outcome: ParentCheckResult,
        batch: &mut BatchContext,
    ) {
        let (answers, must_repeat) = self.parent_checks.complete(parent, outcome);
        if must_repeat {
            self.start_parent_check(parent, None, batch);
        }
        for ((monitor_id, planned_at), failed_parents) in answers {
            self.on_input(monitor_id, AlertInput::ParentsChecked(planned_at, failed_parents), batch);
        }
    }

    /// Starts a check of `parent` after the commit: at `preferred_location` if it is one of its own, else at the first
    /// one with a live agent.
    fn start_parent_check(
        &self,
        parent: MonitorId,
        preferred_location: Option<LocationId>,
        batch: &mut BatchContext,
    ) {
        let entry = self.monitors.get(&parent);
        let pool = entry.and_then(|entry| {
            let (account, _) = self.account_snapshots.get(entry.monitor.customer)?;
            Some(account.location_pool_ids(&entry.monitor))
        });
        let pool: Vec<LocationId> = pool.unwrap_or_default().into_iter().map(LocationId).collect();
        let offline = self.locations.offline_locations();
        let preferred = preferred_location.filter(|location| pool.contains(location));
        let location =
            preferred.into_iter().chain(pool.iter().copied()).find(|location| !offline.contains(location));
        match (entry, location) {
            (Some(entry), Some(location)) => {
                batch.parent_checks.push(ParentCheckRequest { monitor: entry.monitor.clone(), location });
            }
            // Nothing can check it: the runs decide with what is known.
            _ => batch.unavailable_parents.push(parent),
        }
    }

    /// Answers the runs that wait for parents that nothing can check.
    pub(super) fn answer_for_unavailable_parents(&mut self, batch: &mut BatchContext) {
        while let Some(parent) = batch.unavailable_parents.pop() {
            let outcome = ParentCheckResult::UNKNOWN;
            let (answers, _) = self.parent_checks.complete(parent, outcome);
            for ((monitor_id, planned_at), failed_parents) in answers {
                self.on_input(monitor_id, AlertInput::ParentsChecked(planned_at, failed_parents), batch);
            }
        }
    }
}
