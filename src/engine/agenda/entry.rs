//! The state of one monitor.

use std::sync::Arc;

use crate::engine::Assignment;
use crate::engine::gate::TargetKey;
use crate::model::{MissedReason, Timestamp};
use crate::schedule::Slots;

pub(super) struct Entry {
    pub(super) assignment: Arc<Assignment>,
    pub(super) slots: Slots,
    /// The slot that has come and waits for its turn.
    pub(super) pending: Option<Timestamp>,
    /// The newest slot that came or was given up.
    pub(super) taken: Timestamp,
    /// The oldest slot that has not come yet.
    pub(super) due: Timestamp,
    /// When the slot `due` comes: at its time, or later after a pause.
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
        let slots = Slots::new(assignment.monitor_id, assignment.interval, assignment.offset);
        let target = assignment.probe.target().map(TargetKey::of);
        let (taken, due) = (slots.last_at_or_before(now), slots.next_after(now));
        Self {
            assignment,
            slots,
            pending: None,
            taken,
            due,
            wake: due,
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
        if self.due >= self.wake {
            return None;
        }
        self.taken = self.due;
        Some(self.due)
    }

    /// Begins the grid `slots` now, after every slot that was taken already.
    pub(super) fn regrid(&mut self, slots: Slots, now: Timestamp) {
        self.slots = slots;
        self.due = slots.next_after(now.max(self.taken));
        self.wake = self.due;
    }
}
