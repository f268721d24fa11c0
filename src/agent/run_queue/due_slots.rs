//! Slots that are due, missed, or caught up with.

use std::sync::Arc;

use super::monitor_schedule::missed_reason;
use super::queue::RunQueue;
use crate::agent::missed_backlog::MissedRunSeries;
use crate::domain::{MissedReason, Timestamp};
use crate::schedule::{CatchUp, LATENESS_TOLERANCE, MissedSlots};

impl RunQueue {
    /// Counts the monitor as planned, and starts the timer of its next slot.
    pub(super) fn mark_planned(&mut self, index: u32) {
        if let Some(entry) = self.monitor_mut(index) {
            entry.is_planned = true;
            let timer_at = entry.timer_at;
            self.planned_monitors += 1;
            self.timers.set_timer(index, timer_at);
        }
    }

    /// Continues after the slot `last_slot`, which was recorded before this process started.
    pub(super) fn resume_after_slot(&mut self, index: u32, last_slot: Timestamp, now: Timestamp) {
        let Some(entry) = self.monitor_mut(index) else { return };
        entry.last_handled_slot = last_slot;
        entry.next_slot = entry.location_grid.next_slot_after(last_slot);
        self.catch_up_slots(index, now, MissedReason::NotRunning);
    }

    /// Records the slots whose interval has passed as missed, and sets the timer for the next one.
    pub(super) fn catch_up_slots(&mut self, index: u32, now: Timestamp, reason: MissedReason) {
        let Some(entry) = self.monitor_mut(index) else { return };
        let catch_up =
            CatchUp::decide(entry.location_grid, entry.next_slot, now, entry.assignment.monitor_id);
        entry.last_handled_slot = catch_up.missed.map_or(entry.last_handled_slot, |missed| missed.last);
        entry.next_slot = catch_up.next_run.planned_at;
        entry.timer_at = catch_up.next_run.start_at;
        let timer_at = entry.timer_at;
        self.timers.set_timer(index, timer_at);
        if let Some(missed) = catch_up.missed {
            self.record_missed_slots(index, reason, missed, now);
        }
    }

    /// Handles the timer of a monitor now if it has expired but was not popped yet.
    pub(super) fn handle_timer_if_due(&mut self, index: u32, now: Timestamp) {
        let stopped = self.is_stopped;
        if self.monitor_mut(index).is_some_and(|entry| entry.is_planned && !stopped && entry.timer_at <= now)
        {
            self.on_timer_expired(index, now);
        }
    }

    /// Handles the expired timer of a monitor: its next slot is due now, or was due before a stall.
    pub(super) fn on_timer_expired(&mut self, index: u32, now: Timestamp) {
        let (stalled_until, sharing) = (self.stalled_until, Arc::clone(&self.sharing));
        let Some(entry) = self.monitor_mut(index) else { return };
        let is_on_time = now.since(entry.timer_at) < LATENESS_TOLERANCE
            && now < entry.location_grid.start_deadline(entry.next_slot);
        let waiting_slot = entry.pending_slot.take();
        let was_delayed_by_stall = entry.timer_at <= stalled_until;
        let reason = match (is_on_time, was_delayed_by_stall) {
            (true, _) => missed_reason(entry.admission_state),
            (false, true) => MissedReason::ProcessSuspended,
            (false, false) => MissedReason::Overload,
        };
        if is_on_time {
            let slot = entry.next_slot;
            // By its start: an agent that drains may end before a slot that was planned earlier starts here.
            let starts_at = entry.location_grid.location_start_at(slot);
            entry.pending_slot = sharing.owns(entry.assignment.monitor_id, starts_at).then_some(slot);
            entry.last_handled_slot = slot;
            entry.set_next_slot(entry.location_grid.next_slot_after(slot));
            let timer_at = entry.timer_at;
            self.timers.set_timer(index, timer_at);
        }
        if let Some(slot) = waiting_slot {
            self.record_missed_slot(index, reason, slot, now);
        }
        if !is_on_time {
            self.catch_up_slots(index, now, reason);
        }
    }

    pub(super) fn record_missed_slots(
        &mut self,
        index: u32,
        reason: MissedReason,
        slots: MissedSlots,
        detected_at: Timestamp,
    ) {
        let Some(entry) = self.monitors.get(index as usize).and_then(Option::as_ref) else { return };
        let assignment = Arc::clone(&entry.assignment);
        if !self.sharing.owns(assignment.monitor_id, entry.location_grid.location_start_at(slots.last)) {
            return;
        }
        self.missed_backlog
            .push(MissedRunSeries { assignment, reason, slots, detected_at }, &entry.location_grid);
    }

    pub(super) fn record_missed_slot(
        &mut self,
        index: u32,
        reason: MissedReason,
        slot: Timestamp,
        now: Timestamp,
    ) {
        self.record_missed_slots(index, reason, MissedSlots { first: slot, last: slot, count: 1 }, now);
    }

    /// Records the waiting slot as missed if its interval has passed.
    pub(super) fn record_expired_slot(&mut self, index: u32, reason: MissedReason, now: Timestamp) {
        if let Some(slot) = self.monitor_mut(index).and_then(|entry| entry.take_expired_slot(now)) {
            self.record_missed_slot(index, reason, slot, now);
        }
    }

    /// Replans every monitor after the clock was set back by more than [`super::queue::CLOCK_STEP_TOLERANCE`].
    pub(super) fn replan_all_monitors(&mut self, now: Timestamp) {
        tracing::warn!(
            back_s = self.latest_time.since(now).as_secs(),
            "clock was set back: all monitors replanned"
        );
        for index in 0..self.monitors.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(entry) = self.monitor_mut(index).filter(|entry| entry.is_planned) else { continue };
            let waiting_slot = entry.pending_slot.take();
            entry.last_handled_slot = now;
            entry.set_next_slot(entry.location_grid.next_slot_after(now));
            let timer_at = entry.timer_at;
            self.timers.set_timer(index, timer_at);
            if let Some(slot) = waiting_slot {
                self.record_missed_slot(index, MissedReason::ProcessSuspended, slot, now);
            }
            self.update_admission_request(index, now);
        }
    }
}
