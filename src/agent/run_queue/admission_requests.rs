//! Admission of runs: which monitors need it, and what starts when they are admitted.

use std::sync::Arc;

use super::monitor_entry::RunState;
use super::queue::{MAX_ORDERS, RunQueue, StartRun, reject_order};
use crate::agent::admission::QueueFull;
use crate::agent::run_order::{ResultReply, RunOrderError};
use crate::domain::{MissedReason, Timestamp};

impl RunQueue {
    pub(super) fn wants_admission(&self, index: u32) -> bool {
        let pending = self
            .entries
            .get(index as usize)
            .and_then(Option::as_ref)
            .is_some_and(|e| e.pending_slot.is_some());
        !self.stopped && (pending || self.orders.contains_key(&index))
    }

    /// Adds the monitor to the admission queue or removes it, by whether a run of it waits.
    pub(super) fn sync_admission(&mut self, index: u32, now: Timestamp) {
        let wants = self.wants_admission(index);
        let Some(entry) = self.entries.get_mut(index as usize).and_then(Option::as_mut) else { return };
        match (entry.run_state, wants) {
            (RunState::Queued, false) => {
                entry.run_state = RunState::Idle;
                self.admission.release(index);
            }
            (RunState::Idle, true) => {
                match self.admission.enqueue(index, entry.assignment.weight, entry.target) {
                    Ok(()) => entry.run_state = RunState::Queued,
                    Err(QueueFull) => self.reject_run(index, now),
                }
            }
            _ => {}
        }
    }

    /// Handles a full queue: records the waiting slot as missed and refuses the waiting on-demand runs.
    pub(super) fn reject_run(&mut self, index: u32, now: Timestamp) {
        if let Some(slot) = self.entry(index).and_then(|entry| entry.pending_slot.take()) {
            self.record_missed_slot(index, MissedReason::Overload, slot, now);
        }
        for reply in self.orders.remove(&index).into_iter().flatten() {
            self.waiting_orders -= 1;
            reject_order(reply, RunOrderError::Busy);
        }
        self.remove_if_idle(index);
    }

    /// Collects the checks that can be admitted now, for example after a change or a request for a run.
    pub fn start_admitted(&mut self, now: Timestamp, starts: &mut Vec<StartRun>) {
        while let Some(index) = self.admission.admit() {
            self.fire_if_due(index, now);
            match self.next_start(index, now) {
                Some(start) => starts.push(start),
                None => self.admission.release(index),
            }
        }
    }

    pub(super) fn next_start(&mut self, index: u32, now: Timestamp) -> Option<StartRun> {
        self.expire_pending_slot(index, MissedReason::Overload, now);
        let reply = self.next_order(index);
        let entry = self.entry(index)?;
        let planned_at = if reply.is_some() { Some(now) } else { entry.pending_slot.take() };
        entry.run_state = if planned_at.is_some() { RunState::Running } else { RunState::Idle };
        let planned_at = planned_at?;
        let due_at = if reply.is_some() { now } else { entry.grid.start_at(planned_at) };
        Some(StartRun { index, assignment: Arc::clone(&entry.assignment), planned_at, due_at, reply })
    }

    pub(super) fn next_order(&mut self, index: u32) -> Option<ResultReply> {
        let waiting = self.orders.get_mut(&index)?;
        let reply = waiting.pop_front();
        if waiting.is_empty() {
            self.orders.remove(&index);
        }
        self.waiting_orders -= usize::from(reply.is_some());
        reply
    }

    pub(super) fn queue_order(&mut self, index: u32, now: Timestamp, reply: ResultReply) {
        if self.stopped || self.waiting_orders >= MAX_ORDERS {
            reject_order(reply, if self.stopped { RunOrderError::Stopped } else { RunOrderError::Busy });
            self.remove_if_idle(index);
            return;
        }
        self.waiting_orders += 1;
        self.orders.entry(index).or_default().push_back(reply);
        self.sync_admission(index, now);
    }

    /// Frees an entry that is not planned and has no run in progress or waiting.
    pub(super) fn remove_if_idle(&mut self, index: u32) {
        let wants = self.wants_admission(index);
        let Some(entry) = self.entry(index) else { return };
        if entry.planned || wants || entry.run_state == RunState::Running {
            return;
        }
        let id = entry.assignment.monitor_id;
        self.admission.release(index);
        self.timers.cancel(index);
        self.by_id.remove(&id);
        self.entries[index as usize] = None;
        self.free.push(index);
    }
}
