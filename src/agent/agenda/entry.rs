//! The state of one monitor.

use std::sync::Arc;

use crate::agent::assignment::Assignment;
use crate::agent::gate::TargetKey;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::LocationSlots;

pub(super) struct Entry {
    pub(super) assignment: Arc<Assignment>,
    pub(super) grid: LocationSlots,
    /// The slot that has come and waits for its turn.
    pub(super) pending: Option<Timestamp>,
    /// The newest slot that came or was given up.
    pub(super) taken: Timestamp,
    /// The oldest slot that has not come yet.
    pub(super) due: Timestamp,
    /// When the slot `due` comes: at its start here, or later after a pause.
    pub(super) wake: Timestamp,
    pub(super) target: Option<TargetKey>,
    pub(super) turn: Turn,
    /// False for one that only finishes a run, or only serves an order.
    pub(super) planned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Has nothing at the gate.
    Idle,
    /// Waits at the gate.
    Queued,
    /// Has a run going.
    Running,
}

/// Why a slot that waited is given up.
pub(super) fn reason_of(turn: Turn) -> MissedReason {
    if turn == Turn::Running { MissedReason::StillRunning } else { MissedReason::Overload }
}

impl Entry {
    pub(super) fn new(assignment: Arc<Assignment>, now: Timestamp) -> Self {
        let grid = assignment.grid();
        let target = assignment.probe.target().map(TargetKey::of);
        // With the first run that is planned after now, at whichever location: none is checked by some alone.
        let due = grid.next_after(now);
        Self {
            assignment,
            grid,
            pending: None,
            taken: grid.slots().last_at_or_before(now),
            due,
            wake: grid.start_at(due),
            target,
            turn: Turn::Idle,
            planned: false,
        }
    }

    pub(super) fn renew(&mut self, assignment: Arc<Assignment>) {
        self.target = assignment.probe.target().map(TargetKey::of);
        self.assignment = assignment;
    }

    /// Takes the slot that came during a pause and waits for its late start, if there is one.
    pub(super) fn take_late(&mut self) -> Option<Timestamp> {
        if self.grid.start_at(self.due) >= self.wake {
            return None;
        }
        self.taken = self.due;
        Some(self.due)
    }

    /// Begins `grid` now, after every slot that was taken already.
    pub(super) fn regrid(&mut self, grid: LocationSlots, now: Timestamp) {
        self.grid = grid;
        self.await_slot(grid.next_after(now.max(self.taken)));
    }

    /// Waits for the slot `due`.
    pub(super) fn await_slot(&mut self, due: Timestamp) {
        self.due = due;
        self.wake = self.grid.start_at(due);
    }

    /// Takes the slot that waits when its interval has passed, which can be where a location does not check each
    /// run: elsewhere the next slot has come by then.
    pub(super) fn take_stale(&mut self, now: Timestamp) -> Option<Timestamp> {
        let grid = self.grid;
        self.pending.take_if(|slot| grid.is_rotating() && grid.start_deadline(*slot) <= now)
    }
}
