//! The queue of due runs of one location.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::monitor_schedule::{AdmissionState, MonitorSchedule};
use crate::agent::admission::{AdmissionLimits, AdmissionQueue};
use crate::agent::assignment::Assignment;
use crate::agent::missed_backlog::{MissedRunBacklog, MissedRunSeries};
use crate::agent::monitor_sharing::MonitorSharing;
use crate::agent::on_demand_run::{OnDemandResultSender, OnDemandRunError};
use crate::bus::contract::AgentLoad;
use crate::domain::{CheckTrigger, MissedReason, MonitorId, Timestamp};
use crate::probe::ConcurrencyClass;
use crate::schedule::TimerQueue;

/// One check to start now.
pub struct CheckStart {
    /// Index of the monitor, to pass to [`RunQueue::on_check_finished`].
    pub monitor_index: u32,
    /// What to run.
    pub assignment: Arc<Assignment>,
    /// What caused it.
    pub trigger: CheckTrigger,
    /// The planned slot; for an on-demand run, now; for a first check, the time of the change.
    pub planned_at: Timestamp,
    /// When that slot is due at this location: its delay there included. Now for the others.
    pub location_start_at: Timestamp,
    /// Set for an on-demand run, whose result is only sent here.
    pub on_demand_reply: Option<OnDemandResultSender>,
}

/// Maximum number of waiting on-demand runs over all monitors.
pub const MAX_ON_DEMAND_RUNS: usize = 256;

/// Maximum number of due timers per [`RunQueue::tick`], so that commands and finished checks do not wait long.
pub(super) const MAX_TIMERS_PER_TICK: usize = 4096;

/// A gap between two ticks of more than this is a stall: the runner ticks every second.
pub(super) const STALL_THRESHOLD: Duration = Duration::from_secs(2);

/// When the clock is set back by up to this much, no slot is due until it has caught up, so that no slot runs twice.
/// When it is set back further, monitors are replanned from the new time.
pub(super) const CLOCK_STEP_TOLERANCE: Duration = Duration::from_hours(1);

/// The schedule and the waiting runs of every monitor of an agent. A monitor is addressed by its index.
pub struct RunQueue {
    pub(super) monitors: Vec<Option<MonitorSchedule>>,
    /// Indices of removed monitors, to be used again.
    pub(super) free_indices: Vec<u32>,
    pub(super) index_by_id: HashMap<MonitorId, u32>,
    pub(super) timers: TimerQueue,
    pub(super) admission: AdmissionQueue,
    pub(super) missed_backlog: MissedRunBacklog,
    /// Where to send the results of the on-demand runs that wait to start, by monitor index.
    pub(super) on_demand_runs: HashMap<u32, VecDeque<OnDemandResultSender>>,
    /// Number of these runs over all monitors.
    pub(super) waiting_on_demand_runs: usize,
    /// The first checks that wait to start: by monitor index, the time of the change that caused each.
    pub(super) waiting_first_checks: HashMap<u32, Timestamp>,
    pub(super) planned_monitors: usize,
    /// The latest time passed to `tick`; ahead of the clock after the clock was set back.
    pub(super) latest_time: Timestamp,
    last_tick_at: Timestamp,
    /// End of the last stall: slots that were due before then are late because of it.
    pub(super) stalled_until: Timestamp,
    pub(super) is_stopped: bool,
    /// Which slots are handled here.
    pub(super) sharing: Arc<MonitorSharing>,
}

impl RunQueue {
    /// Creates a queue without monitors.
    #[must_use]
    pub fn new(limits: AdmissionLimits, now: Timestamp) -> Self {
        Self {
            monitors: Vec::new(),
            free_indices: Vec::new(),
            index_by_id: HashMap::new(),
            timers: TimerQueue::new(),
            admission: AdmissionQueue::new(limits),
            missed_backlog: MissedRunBacklog::default(),
            on_demand_runs: HashMap::new(),
            waiting_on_demand_runs: 0,
            waiting_first_checks: HashMap::new(),
            planned_monitors: 0,
            latest_time: now,
            last_tick_at: now,
            stalled_until: Timestamp::from_micros(i64::MIN),
            is_stopped: false,
            sharing: Arc::default(),
        }
    }

    /// Returns the queue, handling the slots that `sharing` says.
    #[must_use]
    pub fn with_sharing(mut self, sharing: Arc<MonitorSharing>) -> Self {
        self.sharing = sharing;
        self
    }

    /// Plans a monitor, or updates it to a new revision. An update keeps the slots, the waiting slot and the run in
    /// progress. If interval, offset or location rotation changed, the new slots apply from now on.
    pub fn upsert(&mut self, assignment: Arc<Assignment>, now: Timestamp) {
        if self.is_stopped {
            return;
        }
        let id = assignment.monitor_id;
        let Some(index) = self.index_by_id.get(&id).copied() else {
            let last_planned_at = assignment.last_planned_at;
            let index = self.insert_monitor(MonitorSchedule::new(assignment, now));
            self.mark_planned(index);
            if let Some(last_planned_at) =
                last_planned_at.filter(|&last_planned_at| last_planned_at <= now + CLOCK_STEP_TOLERANCE)
            {
                self.resume_after_slot(index, last_planned_at, now);
            }
            return;
        };
        self.handle_timer_if_due(index, now);
        let Some(entry) = self.monitor_mut(index) else { return };
        let location_grid = assignment.location_slot_grid();
        entry.update_assignment(assignment);
        if !entry.is_planned {
            // Slots that passed while it was not planned are ignored.
            entry.last_handled_slot =
                entry.last_handled_slot.max(location_grid.monitor_grid().last_slot_at_or_before(now));
            entry.change_grid(location_grid, now);
            self.mark_planned(index);
        } else if entry.location_grid != location_grid {
            if let (None, Some(delayed_slot)) = (entry.pending_slot, entry.take_slot_delayed_by_stall()) {
                entry.pending_slot = Some(delayed_slot);
            }
            entry.change_grid(location_grid, now);
            let timer_at = entry.timer_at;
            self.timers.set_timer(index, timer_at);
        }
        self.update_admission_request(index, now);
    }

    /// Stops planning a monitor; returns its index. A run in progress continues; those that wait are dropped.
    pub fn remove(&mut self, monitor_id: MonitorId) -> Option<u32> {
        let index = self.index_by_id.get(&monitor_id).copied()?;
        let entry = self.monitor_mut(index)?;
        entry.pending_slot = None;
        if std::mem::take(&mut entry.is_planned) {
            entry.take_slot_delayed_by_stall();
            self.planned_monitors -= 1;
        }
        self.waiting_first_checks.remove(&index);
        self.timers.cancel_timer(index);
        self.remove_if_idle(index);
        Some(index)
    }

    /// Requests a run of a monitor outside its schedule. It needs admission too, and is the monitor's next run:
    /// it never runs concurrently with another run of the monitor.
    pub fn request_run(&mut self, monitor_id: MonitorId, now: Timestamp, reply: OnDemandResultSender) {
        let index = self
            .index_by_id
            .get(&monitor_id)
            .copied()
            .filter(|&index| self.monitor_mut(index).is_some_and(|e| e.is_planned));
        match index {
            None => reject_on_demand_run(reply, OnDemandRunError::NotPlanned),
            Some(index) => self.enqueue_on_demand_run(index, now, reply),
        }
    }

    /// Like [`RunQueue::request_run`], for a monitor that need not be planned.
    pub fn request_run_of_assignment(
        &mut self,
        assignment: Arc<Assignment>,
        now: Timestamp,
        reply: OnDemandResultSender,
    ) {
        let index = match self.index_by_id.get(&assignment.monitor_id) {
            Some(&index) => index,
            None => self.insert_monitor(MonitorSchedule::new(assignment, now)),
        };
        self.enqueue_on_demand_run(index, now, reply);
    }

    /// Requests the first check of a planned monitor, for a change at `planned_at`, instead of one that waits.
    /// Planned runs are admitted before it. Returns whether it waits: not when the monitor permits planned runs only,
    /// or when it comes too late.
    pub fn request_first_check(
        &mut self,
        monitor_id: MonitorId,
        planned_at: Timestamp,
        now: Timestamp,
    ) -> bool {
        let Some(index) = self.index_by_id.get(&monitor_id).copied().filter(|_| !self.is_stopped) else {
            return false;
        };
        if !self.monitor_mut(index).is_some_and(|entry| entry.may_start_first_check(planned_at, now)) {
            return false;
        }
        self.waiting_first_checks.insert(index, planned_at);
        self.update_admission_request(index, now);
        self.waiting_first_checks.contains_key(&index)
    }

    /// Advances the time to `now` and collects the checks to start. Returns whether more timers are due: then call
    /// again soon.
    pub fn tick(&mut self, now: Timestamp, checks_to_start: &mut Vec<CheckStart>) -> bool {
        if now + CLOCK_STEP_TOLERANCE < self.latest_time && !self.is_stopped {
            self.replan_all_monitors(now);
            self.latest_time = now;
        }
        self.latest_time = self.latest_time.max(now);
        if now.since(self.last_tick_at) > STALL_THRESHOLD {
            self.stalled_until = now;
        }
        // After the clock was set back, the end of the last stall must not be in the future.
        self.stalled_until = self.stalled_until.min(now);
        self.last_tick_at = now;
        let mut has_more_due = true;
        for _ in 0..MAX_TIMERS_PER_TICK {
            let Some(index) = self.timers.pop_expired(now) else {
                has_more_due = false;
                break;
            };
            self.on_timer_expired(index, now);
            self.update_admission_request(index, now);
            // Admit after each timer: the admission queue is for runs beyond the capacity, not for all that are due.
            self.collect_admitted(now, checks_to_start);
        }
        self.collect_admitted(now, checks_to_start);
        has_more_due
    }

    /// Handles the end of the check that was started as `index`, after its result was delivered.
    pub fn on_check_finished(&mut self, index: u32, now: Timestamp, checks_to_start: &mut Vec<CheckStart>) {
        self.handle_timer_if_due(index, now);
        self.admission.release(index);
        if let Some(entry) = self.monitor_mut(index) {
            entry.admission_state = AdmissionState::Idle;
            self.record_expired_slot(index, MissedReason::StillRunning, now);
            self.update_admission_request(index, now);
            self.remove_if_idle(index);
        }
        self.collect_admitted(now, checks_to_start);
    }

    /// Starts no more checks. Waiting slots are left to the next start of the process, which knows the last planned
    /// time of each monitor; waiting on-demand runs are refused.
    pub fn stop(&mut self) {
        self.is_stopped = true;
        for index in 0..self.monitors.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.timers.cancel_timer(index);
            let Some(entry) = self.monitor_mut(index) else { continue };
            entry.pending_slot = None;
            if matches!(entry.admission_state, AdmissionState::Queued(_)) {
                entry.admission_state = AdmissionState::Idle;
                self.admission.release(index);
            }
        }
        for reply in std::mem::take(&mut self.on_demand_runs).into_values().flatten() {
            reject_on_demand_run(reply, OnDemandRunError::Stopped);
        }
        self.waiting_on_demand_runs = 0;
        self.waiting_first_checks.clear();
    }

    /// Returns the time of the next timer.
    pub fn next_timer_at(&mut self) -> Option<Timestamp> {
        self.timers.next_expiry()
    }

    /// Removes and returns one series of missed runs to deliver.
    pub fn pop_missed_series(&mut self) -> Option<MissedRunSeries> {
        self.missed_backlog.pop_next()
    }

    /// Whether missed runs wait for delivery.
    #[must_use]
    pub fn has_missed_series(&self) -> bool {
        !self.missed_backlog.is_empty()
    }

    /// Returns the number of planned monitors.
    #[must_use]
    pub fn planned_monitors(&self) -> usize {
        self.planned_monitors
    }

    /// Returns the ids of the planned monitors.
    #[must_use]
    pub fn planned_monitor_ids(&self) -> Vec<MonitorId> {
        let planned = self.monitors.iter().flatten().filter(|entry| entry.is_planned);
        planned.map(|entry| entry.assignment.monitor_id).collect()
    }

    /// Returns the current load.
    #[must_use]
    pub fn load(&self) -> AgentLoad {
        AgentLoad {
            planned_monitors: self.planned_monitors,
            running_checks: self.running_checks(),
            waiting_checks: self.waiting_checks(),
        }
    }

    /// Returns the number of runs that wait for admission. Excludes those that wait for the previous run of their
    /// monitor.
    #[must_use]
    pub fn waiting_checks(&self) -> usize {
        self.admission.waiting_count()
    }

    /// Returns the number of running checks.
    #[must_use]
    pub fn running_checks(&self) -> usize {
        self.admission.running_count()
    }

    /// Returns the number of running checks of a concurrency class.
    #[must_use]
    pub fn running_checks_by_class(&self, class: ConcurrencyClass) -> usize {
        self.admission.running_count_by_class(class)
    }

    pub(super) fn monitor_mut(&mut self, index: u32) -> Option<&mut MonitorSchedule> {
        self.monitors.get_mut(index as usize)?.as_mut()
    }

    fn insert_monitor(&mut self, entry: MonitorSchedule) -> u32 {
        let id = entry.assignment.monitor_id;
        let index = self.free_indices.pop().unwrap_or_else(|| {
            self.monitors.push(None);
            u32::try_from(self.monitors.len() - 1).unwrap_or(u32::MAX)
        });
        self.monitors[index as usize] = Some(entry);
        self.index_by_id.insert(id, index);
        index
    }
}

pub(super) fn reject_on_demand_run(reply: OnDemandResultSender, error: OnDemandRunError) {
    // The caller may have stopped waiting.
    let _ = reply.send(Err(error));
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "first_check_tests.rs"]
mod first_check_tests;

#[cfg(test)]
#[path = "sharing_tests.rs"]
mod sharing_tests;
