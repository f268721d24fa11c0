//! The state of one monitor.

use std::sync::Arc;

use crate::agent::admission::TargetKey;
use crate::agent::assignment::Assignment;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::LocationSlots;

pub(super) struct QueueEntry {
    pub(super) assignment: Arc<Assignment>,
    pub(super) grid: LocationSlots,
    /// The slot that has come and waits for its turn.
    pub(super) pending_slot: Option<Timestamp>,
    /// The newest slot that came or was given up.
    pub(super) last_handled: Timestamp,
    /// The oldest slot that has not come yet.
    pub(super) next_slot: Timestamp,
    /// When the slot `due` comes: at its start here, or later after a pause.
    pub(super) wake_at: Timestamp,
    pub(super) target: Option<TargetKey>,
    pub(super) run_state: RunState,
    /// False for one that only finishes a run, or only serves an order.
    pub(super) planned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// Has nothing at the gate.
    Idle,
    /// Waits at the gate.
    Queued,
    /// Has a run going.
    Running,
}

/// Why a slot that waited is given up.
pub(super) fn missed_reason(turn: RunState) -> MissedReason {
    if turn == RunState::Running { MissedReason::StillRunning } else { MissedReason::Overload }
}

impl QueueEntry {
    pub(super) fn new(assignment: Arc<Assignment>, now: Timestamp) -> Self {
        let grid = assignment.grid();
        let target = assignment.probe.target().map(TargetKey::from_host);
        // With the first run that is planned after now, at whichever location: none is checked by some alone.
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

    /// Takes the slot that came during a pause and waits for its late start, if there is one.
    pub(super) fn take_delayed_slot(&mut self) -> Option<Timestamp> {
        if self.grid.start_at(self.next_slot) >= self.wake_at {
            return None;
        }
        self.last_handled = self.next_slot;
        Some(self.next_slot)
    }

    /// Begins `grid` now, after every slot that was taken already.
    pub(super) fn change_grid(&mut self, grid: LocationSlots, now: Timestamp) {
        self.grid = grid;
        self.wait_for_slot(grid.next_after(now.max(self.last_handled)));
    }

    /// Waits for the slot `due`.
    pub(super) fn wait_for_slot(&mut self, due: Timestamp) {
        self.next_slot = due;
        self.wake_at = self.grid.start_at(due);
    }

    /// Takes the slot that waits when its interval has passed, which can be where a location does not check each
    /// run: elsewhere the next slot has come by then.
    pub(super) fn take_expired_slot(&mut self, now: Timestamp) -> Option<Timestamp> {
        let grid = self.grid;
        self.pending_slot.take_if(|slot| grid.is_rotating() && grid.start_deadline(*slot) <= now)
    }
}
