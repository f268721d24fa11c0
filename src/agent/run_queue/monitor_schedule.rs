//! The schedule of one monitor at this location, with its waiting slot and the admission of its checks.

use std::sync::Arc;

use crate::agent::admission::{AdmissionPriority, TargetKey};
use crate::agent::assignment::Assignment;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::LocationSlotGrid;

/// A monitor with its slots at this location; also one that is not planned but has a run on demand.
pub(super) struct MonitorSchedule {
    pub(super) assignment: Arc<Assignment>,
    pub(super) location_grid: LocationSlotGrid,
    /// The due slot that waits to start.
    pub(super) pending_slot: Option<Timestamp>,
    /// The newest slot that was due or was recorded as missed.
    pub(super) last_handled_slot: Timestamp,
    /// The oldest slot that is not due yet.
    pub(super) next_slot: Timestamp,
    /// When the timer of `next_slot` expires: at its start at this location, or later after a stall.
    pub(super) timer_at: Timestamp,
    pub(super) target_key: Option<TargetKey>,
    pub(super) admission_state: AdmissionState,
    /// False for a monitor that only finishes a run, or only has on-demand runs.
    pub(super) is_planned: bool,
}

/// Where the next or current check of a monitor stands in the admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AdmissionState {
    /// Not in the admission queue.
    Idle,
    /// Waits for admission.
    Queued(AdmissionPriority),
    /// Has a run in progress.
    Running,
}

/// Returns why a waiting slot is missed.
pub(super) fn missed_reason(admission_state: AdmissionState) -> MissedReason {
    if admission_state == AdmissionState::Running {
        MissedReason::StillRunning
    } else {
        MissedReason::Overload
    }
}

impl MonitorSchedule {
    pub(super) fn new(assignment: Arc<Assignment>, now: Timestamp) -> Self {
        let location_grid = assignment.location_slot_grid();
        let target_key = assignment.probe.target_host().map(TargetKey::from_host);
        // Starts with the first run planned after now, at whichever location, so that no run is checked by only some of
        // its locations.
        let first_slot = location_grid.next_slot_after(now);
        Self {
            assignment,
            location_grid,
            pending_slot: None,
            last_handled_slot: location_grid.monitor_grid().last_slot_at_or_before(now),
            next_slot: first_slot,
            timer_at: location_grid.location_start_at(first_slot),
            target_key,
            admission_state: AdmissionState::Idle,
            is_planned: false,
        }
    }

    pub(super) fn update_assignment(&mut self, assignment: Arc<Assignment>) {
        self.target_key = assignment.probe.target_host().map(TargetKey::from_host);
        self.assignment = assignment;
    }

    /// Takes the slot that became due during a stall and waits for its late start, if there is one.
    pub(super) fn take_slot_delayed_by_stall(&mut self) -> Option<Timestamp> {
        if self.location_grid.location_start_at(self.next_slot) >= self.timer_at {
            return None;
        }
        self.last_handled_slot = self.next_slot;
        Some(self.next_slot)
    }

    /// Whether a first check for a change at `planned_at` may start: planned, permitted and not too late.
    pub(super) fn may_start_first_check(&self, planned_at: Timestamp, now: Timestamp) -> bool {
        let is_in_time = now < self.assignment.first_check_expires_at(planned_at);
        self.is_planned && self.assignment.allows_unscheduled_checks && is_in_time
    }

    /// Switches to `location_grid`, from its first slot after now and after all handled slots.
    pub(super) fn change_grid(&mut self, location_grid: LocationSlotGrid, now: Timestamp) {
        self.location_grid = location_grid;
        self.set_next_slot(location_grid.next_slot_after(now.max(self.last_handled_slot)));
    }

    /// Sets the next slot, and the timer to its start.
    pub(super) fn set_next_slot(&mut self, slot: Timestamp) {
        self.next_slot = slot;
        self.timer_at = self.location_grid.location_start_at(slot);
    }

    /// Takes the waiting slot if its interval has passed. This only happens under rotation:
    /// otherwise the next slot is due by then and replaces it.
    pub(super) fn take_expired_slot(&mut self, now: Timestamp) -> Option<Timestamp> {
        let grid = self.location_grid;
        self.pending_slot.take_if(|slot| grid.is_rotating() && grid.start_deadline(*slot) <= now)
    }
}
