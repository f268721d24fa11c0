//! Slots as they come due, are missed, or are caught up with.

use std::sync::Arc;

use super::entry::reason_of;
use super::queue::Agenda;
use crate::agent::backlog::MissedSeries;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::{CatchUp, LATENESS_TOLERANCE, MissedSlots};

impl Agenda {
    pub(super) fn plan(&mut self, index: u32) {
        if let Some(entry) = self.entry(index) {
            entry.planned = true;
            let wake = entry.wake;
            self.planned += 1;
            self.timers.set(index, wake);
        }
    }

    /// Continues after the slot `last`, which was recorded before this process started.
    pub(super) fn resume(&mut self, index: u32, last: Timestamp, now: Timestamp) {
        let Some(entry) = self.entry(index) else { return };
        entry.taken = last;
        entry.due = entry.grid.next_after(last);
        self.catch_up(index, now, MissedReason::NotRunning);
    }

    /// Gives up the slots whose interval has passed, and sets the timer for the one that follows.
    pub(super) fn catch_up(&mut self, index: u32, now: Timestamp, reason: MissedReason) {
        let Some(entry) = self.entry(index) else { return };
        let decided = CatchUp::decide(entry.grid, entry.due, now, entry.assignment.monitor_id);
        entry.taken = decided.missed.map_or(entry.taken, |missed| missed.last);
        entry.due = decided.next_run.planned_at;
        entry.wake = decided.next_run.start_at;
        let wake = entry.wake;
        self.timers.set(index, wake);
        if let Some(missed) = decided.missed {
            self.miss(index, reason, missed, now);
        }
    }

    /// Lets the slot of a monitor come whose timer has ended but was not popped yet.
    pub(super) fn come_if_due(&mut self, index: u32, now: Timestamp) {
        let stopped = self.stopped;
        if self.entry(index).is_some_and(|entry| entry.planned && !stopped && entry.wake <= now) {
            self.come(index, now);
        }
    }

    /// The timer of a monitor has ended: its next slot has come, or a pause is noticed.
    pub(super) fn come(&mut self, index: u32, now: Timestamp) {
        let paused_until = self.paused_until;
        let Some(entry) = self.entry(index) else { return };
        let on_time =
            now.since(entry.wake) < LATENESS_TOLERANCE && now < entry.grid.start_deadline(entry.due);
        let given_up = entry.pending.take();
        let by_pause = entry.wake <= paused_until;
        let reason = match (on_time, by_pause) {
            (true, _) => reason_of(entry.turn),
            (false, true) => MissedReason::Paused,
            (false, false) => MissedReason::Overload,
        };
        if on_time {
            let slot = entry.due;
            entry.pending = Some(slot);
            entry.taken = slot;
            entry.await_slot(entry.grid.next_after(slot));
            let wake = entry.wake;
            self.timers.set(index, wake);
        }
        if let Some(slot) = given_up {
            self.miss_one(index, reason, slot, now);
        }
        if !on_time {
            self.catch_up(index, now, reason);
        }
    }

    pub(super) fn miss(
        &mut self,
        index: u32,
        reason: MissedReason,
        slots: MissedSlots,
        noticed_at: Timestamp,
    ) {
        let Some(entry) = self.entries.get(index as usize).and_then(Option::as_ref) else { return };
        let assignment = Arc::clone(&entry.assignment);
        self.backlog.add(MissedSeries { assignment, reason, slots, noticed_at }, &entry.grid);
    }

    pub(super) fn miss_one(&mut self, index: u32, reason: MissedReason, slot: Timestamp, now: Timestamp) {
        self.miss(index, reason, MissedSlots { first: slot, last: slot, count: 1 }, now);
    }

    /// Gives up the slot that waits when its interval has passed meanwhile.
    pub(super) fn miss_stale(&mut self, index: u32, reason: MissedReason, now: Timestamp) {
        if let Some(slot) = self.entry(index).and_then(|entry| entry.take_stale(now)) {
            self.miss_one(index, reason, slot, now);
        }
    }

    /// Plans every monitor anew after the clock was set back by more than [`super::queue::STEP_BACK`].
    pub(super) fn replan(&mut self, now: Timestamp) {
        tracing::warn!(back_s = self.latest.since(now).as_secs(), "the clock was set back, planning anew");
        for index in 0..self.entries.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(entry) = self.entry(index).filter(|entry| entry.planned) else { continue };
            let given_up = entry.pending.take();
            entry.taken = now;
            entry.await_slot(entry.grid.next_after(now));
            let wake = entry.wake;
            self.timers.set(index, wake);
            if let Some(slot) = given_up {
                self.miss_one(index, MissedReason::Paused, slot, now);
            }
            self.take_turn(index, now);
        }
    }
}
