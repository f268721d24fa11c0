//! Admission of runs: which monitors need it, and what starts when they are admitted.

use std::sync::Arc;

use super::monitor_schedule::AdmissionState;
use super::queue::{CheckStart, MAX_ON_DEMAND_RUNS, RunQueue, reject_on_demand_run};
use crate::agent::admission::{AdmissionPriority, AdmissionQueueFull};
use crate::agent::on_demand_run::{OnDemandResultSender, OnDemandRunError};
use crate::domain::{CheckTrigger, MissedReason, Timestamp};

impl RunQueue {
    /// Returns how urgent the run is that the monitor waits for; `None` when none waits.
    fn waiting_priority(&self, index: u32) -> Option<AdmissionPriority> {
        let entry = self.monitors.get(index as usize).and_then(Option::as_ref)?;
        if self.is_stopped {
            None
        } else if entry.pending_slot.is_some() || self.on_demand_runs.contains_key(&index) {
            Some(AdmissionPriority::Normal)
        } else {
            self.waiting_first_checks.contains_key(&index).then_some(AdmissionPriority::Low)
        }
    }

    /// Adds the monitor to the admission queue or removes it, by whether a run of it waits.
    pub(super) fn update_admission_request(&mut self, index: u32, now: Timestamp) {
        let wanted_priority = self.waiting_priority(index);
        let Some(entry) = self.monitors.get_mut(index as usize).and_then(Option::as_mut) else { return };
        match entry.admission_state {
            AdmissionState::Running => return,
            AdmissionState::Queued(priority) if wanted_priority == Some(priority) => return,
            AdmissionState::Queued(_) => {
                entry.admission_state = AdmissionState::Idle;
                self.admission.release(index);
            }
            AdmissionState::Idle => {}
        }
        let Some(priority) = wanted_priority else { return };
        let (account, class) = (entry.assignment.customer_id, entry.assignment.concurrency_class);
        match self.admission.enqueue(index, account, class, entry.target_key, priority) {
            Ok(replaced) => {
                entry.admission_state = AdmissionState::Queued(priority);
                if let Some(replaced) = replaced {
                    self.on_place_lost(replaced, now);
                }
            }
            Err(AdmissionQueueFull) => self.reject_waiting_runs(index, now),
        }
    }

    /// Handles that the waiting check of another account took the place of this one in a full queue.
    fn on_place_lost(&mut self, index: u32, now: Timestamp) {
        if let Some(entry) = self.monitor_mut(index) {
            entry.admission_state = AdmissionState::Idle;
        }
        self.reject_waiting_runs(index, now);
    }

    /// Handles a full queue: records the waiting slot as missed, refuses the waiting on-demand runs and gives up the
    /// waiting first check.
    pub(super) fn reject_waiting_runs(&mut self, index: u32, now: Timestamp) {
        if let Some(slot) = self.monitor_mut(index).and_then(|entry| entry.pending_slot.take()) {
            self.record_missed_slot(index, MissedReason::Overload, slot, now);
        }
        self.waiting_first_checks.remove(&index);
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

    /// Takes the most urgent waiting run of an admitted monitor: on demand, planned, first check; `None` without one.
    pub(super) fn take_check_start(&mut self, index: u32, now: Timestamp) -> Option<CheckStart> {
        self.record_expired_slot(index, MissedReason::Overload, now);
        let reply = self.take_on_demand_reply(index);
        let first_check = self.waiting_first_checks.get(&index).copied();
        let entry = self.monitor_mut(index)?;
        let next_check = match (&reply, entry.pending_slot) {
            (Some(_), _) => Some((CheckTrigger::OnDemand, now)),
            (None, Some(slot)) => {
                entry.pending_slot = None;
                Some((CheckTrigger::Schedule, slot))
            }
            (None, None) => first_check
                .filter(|planned_at| entry.may_start_first_check(*planned_at, now))
                .map(|planned_at| (CheckTrigger::First, planned_at)),
        };
        entry.admission_state =
            if next_check.is_some() { AdmissionState::Running } else { AdmissionState::Idle };
        let location_grid = entry.location_grid;
        let assignment = Arc::clone(&entry.assignment);
        if !matches!(next_check, Some((CheckTrigger::OnDemand | CheckTrigger::Schedule, _))) {
            self.waiting_first_checks.remove(&index);
        }
        let (trigger, planned_at) = next_check?;
        let location_start_at =
            if trigger.is_schedule() { location_grid.location_start_at(planned_at) } else { now };
        Some(CheckStart {
            monitor_index: index,
            assignment,
            trigger,
            planned_at,
            location_start_at,
            on_demand_reply: reply,
        })
    }

    pub(super) fn take_on_demand_reply(&mut self, index: u32) -> Option<OnDemandResultSender> {
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
        let needs_admission = self.waiting_priority(index).is_some();
        let Some(entry) = self.monitor_mut(index) else { return };
        if entry.is_planned || needs_admission || entry.admission_state == AdmissionState::Running {
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
