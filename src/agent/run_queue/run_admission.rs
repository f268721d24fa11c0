//! Admission of runs: which monitors need it, and what starts when they are admitted.

use std::sync::Arc;

use super::monitor_schedule::RunState;
use super::queue::{CheckStart, MAX_ON_DEMAND_RUNS, RunQueue, reject_on_demand_run};
use crate::agent::admission::AdmissionQueueFull;
use crate::agent::on_demand_run::{OnDemandResultSender, OnDemandRunError};
use crate::domain::{MissedReason, Timestamp};

impl RunQueue {
    pub(super) fn needs_admission(&self, index: u32) -> bool {
        let pending = self
            .monitors
            .get(index as usize)
            .and_then(Option::as_ref)
            .is_some_and(|e| e.pending_slot.is_some());
        !self.is_stopped && (pending || self.on_demand_runs.contains_key(&index))
    }

    /// Adds the monitor to the admission queue or removes it, by whether a run of it waits.
    pub(super) fn update_admission_request(&mut self, index: u32, now: Timestamp) {
        let needs_admission = self.needs_admission(index);
        let Some(entry) = self.monitors.get_mut(index as usize).and_then(Option::as_mut) else { return };
        match (entry.run_state, needs_admission) {
            (RunState::Queued, false) => {
                entry.run_state = RunState::Idle;
                self.admission.release(index);
            }
            (RunState::Idle, true) => {
                let (account, class) = (entry.assignment.customer_id, entry.assignment.concurrency_class);
                match self.admission.enqueue(index, account, class, entry.target_key) {
                    Ok(replaced) => {
                        entry.run_state = RunState::Queued;
                        if let Some(replaced) = replaced {
                            self.on_place_lost(replaced, now);
                        }
                    }
                    Err(AdmissionQueueFull) => self.reject_waiting_runs(index, now),
                }
            }
            _ => {}
        }
    }

    /// Handles that the waiting check of another account took the place of this one in a full queue.
    fn on_place_lost(&mut self, index: u32, now: Timestamp) {
        if let Some(entry) = self.monitor_mut(index) {
            entry.run_state = RunState::Idle;
        }
        self.reject_waiting_runs(index, now);
    }

    /// Handles a full queue: records the waiting slot as missed and refuses the waiting on-demand runs.
    pub(super) fn reject_waiting_runs(&mut self, index: u32, now: Timestamp) {
        if let Some(slot) = self.monitor_mut(index).and_then(|entry| entry.pending_slot.take()) {
            self.record_missed_slot(index, MissedReason::Overload, slot, now);
        }
        for reply in self.on_demand_runs.remove(&index).into_iter().flatten() {
            self.waiting_on_demand_runs -= 1;
            reject_on_demand_run(reply, OnDemandRunError::QueueFull);
        }
        self.remove_if_idle(index);
    }

    /// Collects the checks that can be admitted now, for example after a change or a request for a run.
    pub fn collect_admitted(&mut self, now: Timestamp, checks_to_start: &mut Vec<CheckStart>) {
        while let Some(index) = self.admission.admit_next() {
            self.handle_timer_if_due(index, now);
            match self.take_check_start(index, now) {
                Some(start) => checks_to_start.push(start),
                None => self.admission.release(index),
            }
        }
    }

    pub(super) fn take_check_start(&mut self, index: u32, now: Timestamp) -> Option<CheckStart> {
        self.record_expired_slot(index, MissedReason::Overload, now);
        let reply = self.take_on_demand_run(index);
        let entry = self.monitor_mut(index)?;
        let planned_at = if reply.is_some() { Some(now) } else { entry.pending_slot.take() };
        entry.run_state = if planned_at.is_some() { RunState::Running } else { RunState::Idle };
        let planned_at = planned_at?;
        let location_start_at =
            if reply.is_some() { now } else { entry.location_grid.location_start_at(planned_at) };
        Some(CheckStart {
            monitor_index: index,
            assignment: Arc::clone(&entry.assignment),
            planned_at,
            location_start_at,
            on_demand_reply: reply,
        })
    }

    pub(super) fn take_on_demand_run(&mut self, index: u32) -> Option<OnDemandResultSender> {
        let waiting = self.on_demand_runs.get_mut(&index)?;
        let reply = waiting.pop_front();
        if waiting.is_empty() {
            self.on_demand_runs.remove(&index);
        }
        self.waiting_on_demand_runs -= usize::from(reply.is_some());
        reply
    }

    pub(super) fn enqueue_on_demand_run(&mut self, index: u32, now: Timestamp, reply: OnDemandResultSender) {
        if self.is_stopped || self.waiting_on_demand_runs >= MAX_ON_DEMAND_RUNS {
            reject_on_demand_run(
                reply,
                if self.is_stopped { OnDemandRunError::Stopped } else { OnDemandRunError::QueueFull },
            );
            self.remove_if_idle(index);
            return;
        }
        self.waiting_on_demand_runs += 1;
        self.on_demand_runs.entry(index).or_default().push_back(reply);
        self.update_admission_request(index, now);
    }

    /// Frees an entry that is not planned and has no run in progress or waiting.
    pub(super) fn remove_if_idle(&mut self, index: u32) {
        let needs_admission = self.needs_admission(index);
        let Some(entry) = self.monitor_mut(index) else { return };
        if entry.is_planned || needs_admission || entry.run_state == RunState::Running {
            return;
        }
        let id = entry.assignment.monitor_id;
        self.admission.release(index);
        self.timers.cancel_timer(index);
        self.index_by_id.remove(&id);
        self.monitors[index as usize] = None;
        self.free_indices.push(index);
    }
}
