//! Slots that are due, missed, or caught up with.

use std::sync::Arc;

use super::monitor_entry::missed_reason;
use super::queue::RunQueue;
use crate::agent::missed_backlog::MissedSeries;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::{CatchUp, LATENESS_TOLERANCE, MissedSlots};

impl RunQueue {
    pub(super) fn start_planning(&mut self, index: u32) {
        if let Some(entry) = self.entry(index) {
            entry.planned = true;
            let wake = entry.wake_at;
            self.planned += 1;
            self.timers.set(index, wake);
        }
    }

    /// Continues after the slot `last`, which was recorded before this process started.
    pub(super) fn resume_after(&mut self, index: u32, last: Timestamp, now: Timestamp) {
        let Some(entry) = self.entry(index) else { return };
        entry.last_handled = last;
        entry.next_slot = entry.grid.next_after(last);
        self.catch_up(index, now, MissedReason::NotRunning);
    }

    /// Records the slots whose interval has passed as missed, and sets the timer for the next one.
    pub(super) fn catch_up(&mut self, index: u32, now: Timestamp, reason: MissedReason) {
        let Some(entry) = self.entry(index) else { return };
        let catch_up = CatchUp::decide(entry.grid, entry.next_slot, now, entry.assignment.monitor_id);
        entry.last_handled = catch_up.missed.map_or(entry.last_handled, |missed| missed.last);
        entry.next_slot = catch_up.next_run.planned_at;
        entry.wake_at = catch_up.next_run.start_at;
        let wake = entry.wake_at;
        self.timers.set(index, wake);
        if let Some(missed) = catch_up.missed {
            self.record_missed(index, reason, missed, now);
        }
    }

    /// Handles the timer of a monitor now if it has expired but was not popped yet.
    pub(super) fn fire_if_due(&mut self, index: u32, now: Timestamp) {
        let stopped = self.stopped;
        if self.entry(index).is_some_and(|entry| entry.planned && !stopped && entry.wake_at <= now) {
            self.fire_slot(index, now);
        }
    }

    /// Handles the expired timer of a monitor: its next slot is due now, or was due before a stall.
    pub(super) fn fire_slot(&mut self, index: u32, now: Timestamp) {
        let paused_until = self.paused_until;
        let Some(entry) = self.entry(index) else { return };
        let on_time =
            now.since(entry.wake_at) < LATENESS_TOLERANCE && now < entry.grid.start_deadline(entry.next_slot);
        let expired = entry.pending_slot.take();
        let is_pause = entry.wake_at <= paused_until;
        let reason = match (on_time, is_pause) {
            (true, _) => missed_reason(entry.run_state),
            (false, true) => MissedReason::Paused,
            (false, false) => MissedReason::Overload,
        };
        if on_time {
            let slot = entry.next_slot;
            entry.pending_slot = Some(slot);
            entry.last_handled = slot;
            entry.wait_for_slot(entry.grid.next_after(slot));
            let wake = entry.wake_at;
            self.timers.set(index, wake);
        }
        if let Some(slot) = expired {
            self.record_missed_slot(index, reason, slot, now);
        }
        if !on_time {
            self.catch_up(index, now, reason);
        }
    }

    pub(super) fn record_missed(
        &mut self,
        index: u32,
        reason: MissedReason,
        slots: MissedSlots,
        detected_at: Timestamp,
    ) {
        let Some(entry) = self.entries.get(index as usize).and_then(Option::as_ref) else { return };
        let assignment = Arc::clone(&entry.assignment);
        self.missed.push(MissedSeries { assignment, reason, slots, detected_at }, &entry.grid);
    }

    pub(super) fn record_missed_slot(
        &mut self,
        index: u32,
        reason: MissedReason,
        slot: Timestamp,
        now: Timestamp,
    ) {
        self.record_missed(index, reason, MissedSlots { first: slot, last: slot, count: 1 }, now);
    }

    /// Records the waiting slot as missed if its interval has passed.
    pub(super) fn expire_pending_slot(&mut self, index: u32, reason: MissedReason, now: Timestamp) {
        if let Some(slot) = self.entry(index).and_then(|entry| entry.take_expired_slot(now)) {
            self.record_missed_slot(index, reason, slot, now);
        }
    }

    /// Replans every monitor after the clock was set back by more than [`super::queue::CLOCK_STEP_TOLERANCE`].
    pub(super) fn replan_all(&mut self, now: Timestamp) {
        tracing::warn!(
            back_s = self.latest_now.since(now).as_secs(),
            "clock was set back: all monitors replanned"
        );
        for index in 0..self.entries.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(entry) = self.entry(index).filter(|entry| entry.planned) else { continue };
            let expired = entry.pending_slot.take();
            entry.last_handled = now;
            entry.wait_for_slot(entry.grid.next_after(now));
            let wake = entry.wake_at;
            self.timers.set(index, wake);
            if let Some(slot) = expired {
                self.record_missed_slot(index, MissedReason::Paused, slot, now);
            }
            self.sync_admission(index, now);
        }
    }
}
