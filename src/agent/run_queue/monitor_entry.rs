//! The state of one monitor.

use std::sync::Arc;

use crate::agent::admission::TargetKey;
use crate::agent::assignment::Assignment;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::LocationSlots;

pub(super) struct QueueEntry {
    pub(super) assignment: Arc<Assignment>,
    pub(super) grid: LocationSlots,
    /// The due slot that waits to start.
    pub(super) pending_slot: Option<Timestamp>,
    /// The newest slot that was due or was recorded as missed.
    pub(super) last_handled: Timestamp,
    /// The oldest slot that is not due yet.
    pub(super) next_slot: Timestamp,
    /// When the timer of `next_slot` expires: at its start at this location, or later after a stall.
    pub(super) wake_at: Timestamp,
    pub(super) target: Option<TargetKey>,
    pub(super) run_state: RunState,
    /// False for a monitor that only finishes a run, or only has on-demand runs.
    pub(super) planned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// Not in the admission queue.
    Idle,
    /// Waits for admission.
    Queued,
    /// Has a run in progress.
    Running,
}

/// Returns why a waiting slot is missed.
pub(super) fn missed_reason(state: RunState) -> MissedReason {
    if state == RunState::Running { MissedReason::StillRunning } else { MissedReason::Overload }
}

impl QueueEntry {
    pub(super) fn new(assignment: Arc<Assignment>, now: Timestamp) -> Self {
        let grid = assignment.location_slots();
        let target = assignment.probe.target().map(TargetKey::from_host);
        // Starts with the first run planned after now, at whichever location, so that no run is checked by only some of
        // its locations.
        let due = grid.next_after(now);
        Self {
            assignment,
            grid,
            pending_slot: None,
            last_handled: grid.slots().last_at_or_before(now),
            next_slot: due,
            wake_at: grid.start_at(due),
            target,
            run_state: RunState::Idle,
            planned: false,
        }
    }

    pub(super) fn update_assignment(&mut self, assignment: Arc<Assignment>) {
        self.target = assignment.probe.target().map(TargetKey::from_host);
        self.assignment = assignment;
    }

    /// Takes the slot that became due during a stall and waits for its late start, if there is one.
    pub(super) fn take_delayed_slot(&mut self) -> Option<Timestamp> {
        if self.grid.start_at(self.next_slot) >= self.wake_at {
            return None;
        }
        self.last_handled = self.next_slot;
        Some(self.next_slot)
    }

    /// Switches to `location_grid`, from its first slot after now and after all handled slots.
    pub(super) fn change_grid(&mut self, grid: LocationSlots, now: Timestamp) {
        self.grid = grid;
        self.wait_for_slot(grid.next_after(now.max(self.last_handled)));
    }

    /// Sets the next slot, and the timer to its start.
    pub(super) fn wait_for_slot(&mut self, due: Timestamp) {
        self.next_slot = due;
        self.wake_at = self.grid.start_at(due);
    }

    /// Takes the waiting slot if its interval has passed. This only happens under rotation:
    /// otherwise the next slot is due by then and replaces it.
    pub(super) fn take_expired_slot(&mut self, now: Timestamp) -> Option<Timestamp> {
        let grid = self.grid;
        self.pending_slot.take_if(|slot| grid.is_rotating() && grid.start_deadline(*slot) <= now)
    }
}
