//! The queue of due runs of one location.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::monitor_entry::{QueueEntry, RunState};
use crate::agent::admission::{Admission, AdmissionLimits};
use crate::agent::assignment::Assignment;
use crate::agent::missed_backlog::{MissedBacklog, MissedSeries};
use crate::agent::run_order::{ResultReply, RunOrderError};
use crate::domain::{MissedReason, MonitorId, Timestamp};
use crate::probe::Weight;
use crate::schedule::TimerQueue;

/// One check to start now.
pub struct StartRun {
    /// Index of the monitor, to pass to [`RunQueue::on_check_finished`].
    pub index: u32,
    /// What to run.
    pub assignment: Arc<Assignment>,
    /// The planned slot; for an on-demand run, now.
    pub planned_at: Timestamp,
    /// When that slot is due at this location: its delay there included.
    pub due_at: Timestamp,
    /// Set for an on-demand run, whose result is only sent here.
    pub reply: Option<ResultReply>,
}

/// Maximum number of waiting on-demand runs over all monitors.
pub const MAX_ORDERS: usize = 256;

/// Maximum number of due timers per [`RunQueue::tick`], so that commands and finished checks do not wait long.
pub(super) const MAX_TIMERS_PER_TICK: usize = 4096;

/// A gap between two ticks of more than this is a stall: the runner ticks every second.
pub(super) const PAUSE_THRESHOLD: Duration = Duration::from_secs(2);

/// When the clock is set back by up to this much, no slot is due until it has caught up, so that no slot runs twice.
/// When it is set back further, monitors are replanned from the new time.
pub(super) const CLOCK_STEP_TOLERANCE: Duration = Duration::from_hours(1);

/// The state of every monitor of an agent.
pub struct RunQueue {
    pub(super) entries: Vec<Option<QueueEntry>>,
    pub(super) free: Vec<u32>,
    pub(super) by_id: HashMap<MonitorId, u32>,
    pub(super) timers: TimerQueue,
    pub(super) admission: Admission,
    pub(super) missed: MissedBacklog,
    pub(super) orders: HashMap<u32, VecDeque<ResultReply>>,
    pub(super) waiting_orders: usize,
    pub(super) planned: usize,
    /// The latest time passed to `tick`; ahead of the clock after the clock was set back.
    pub(super) latest_now: Timestamp,
    ticked_at: Timestamp,
    /// End of the last stall: slots that were due before then are late because of it.
    pub(super) paused_until: Timestamp,
    pub(super) stopped: bool,
}

impl RunQueue {
    /// Creates a queue without monitors.
    #[must_use]
    pub fn new(limits: AdmissionLimits, now: Timestamp) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            timers: TimerQueue::new(),
            admission: Admission::new(limits),
            missed: MissedBacklog::default(),
            orders: HashMap::new(),
            waiting_orders: 0,
            planned: 0,
            latest_now: now,
            ticked_at: now,
            paused_until: Timestamp::from_micros(i64::MIN),
            stopped: false,
        }
    }

    /// Plans a monitor, or updates it to a new revision. An update keeps the slots, the waiting slot and the run in
    /// progress. If interval, offset or location rotation changed, the new slots apply from now on.
    pub fn upsert(&mut self, assignment: Arc<Assignment>, now: Timestamp) {
        if self.stopped {
            return;
        }
        let id = assignment.monitor_id;
        let Some(index) = self.by_id.get(&id).copied() else {
            let last = assignment.last_planned_at;
            let index = self.insert(QueueEntry::new(assignment, now));
            self.start_planning(index);
            if let Some(last) = last.filter(|&last| last <= now + CLOCK_STEP_TOLERANCE) {
                self.resume_after(index, last, now);
            }
            return;
        };
        self.fire_if_due(index, now);
        let Some(entry) = self.entry(index) else { return };
        let grid = assignment.location_slots();
        entry.update_assignment(assignment);
        if !entry.planned {
            // Slots that passed while it was not planned are ignored.
            entry.last_handled = entry.last_handled.max(grid.slots().last_at_or_before(now));
            entry.change_grid(grid, now);
            self.start_planning(index);
        } else if entry.grid != grid {
            if let (None, Some(delayed)) = (entry.pending_slot, entry.take_delayed_slot()) {
                entry.pending_slot = Some(delayed);
            }
            entry.change_grid(grid, now);
            let wake = entry.wake_at;
            self.timers.set(index, wake);
        }
        self.sync_admission(index, now);
    }

    /// Stops planning a monitor. A run in progress continues; a waiting slot is dropped.
    pub fn remove(&mut self, id: MonitorId) -> Option<u32> {
        let index = self.by_id.get(&id).copied()?;
        let entry = self.entry(index)?;
        entry.pending_slot = None;
        if std::mem::take(&mut entry.planned) {
            entry.take_delayed_slot();
            self.planned -= 1;
        }
        self.timers.cancel(index);
        self.remove_if_idle(index);
        Some(index)
    }

    /// Requests a run of a monitor outside its schedule. It needs admission too, and is the monitor's next run:
    /// it never runs concurrently with another run of the monitor.
    pub fn order_run(&mut self, id: MonitorId, now: Timestamp, reply: ResultReply) {
        let index =
            self.by_id.get(&id).copied().filter(|&index| self.entry(index).is_some_and(|e| e.planned));
        match index {
            None => reject_order(reply, RunOrderError::NotPlanned),
            Some(index) => self.queue_order(index, now, reply),
        }
    }

    /// Like [`RunQueue::request_run`], for a monitor that need not be planned.
    pub fn order_run_once(&mut self, assignment: Arc<Assignment>, now: Timestamp, reply: ResultReply) {
        let index = match self.by_id.get(&assignment.monitor_id) {
            Some(&index) => index,
            None => self.insert(QueueEntry::new(assignment, now)),
        };
        self.queue_order(index, now, reply);
    }

    /// Advances the time to `now` and collects the checks to start. Returns whether more timers are due: then call
    /// again soon.
    pub fn tick(&mut self, now: Timestamp, starts: &mut Vec<StartRun>) -> bool {
        if now + CLOCK_STEP_TOLERANCE < self.latest_now && !self.stopped {
            self.replan_all(now);
            self.latest_now = now;
        }
        self.latest_now = self.latest_now.max(now);
        if now.since(self.ticked_at) > PAUSE_THRESHOLD {
            self.paused_until = now;
        }
        // After the clock was set back, the end of the last stall must not be in the future.
        self.paused_until = self.paused_until.min(now);
        self.ticked_at = now;
        let mut more_due = true;
        for _ in 0..MAX_TIMERS_PER_TICK {
            let Some(index) = self.timers.pop_due(now) else {
                more_due = false;
                break;
            };
            self.fire_slot(index, now);
            self.sync_admission(index, now);
            // Admit after each timer: the admission queue is for runs beyond the capacity, not for all that are due.
            self.start_admitted(now, starts);
        }
        self.start_admitted(now, starts);
        more_due
    }

    /// Handles the end of the check that was started as `index`, after its result was delivered.
    pub fn on_finished(&mut self, index: u32, now: Timestamp, starts: &mut Vec<StartRun>) {
        self.fire_if_due(index, now);
        self.admission.release(index);
        if let Some(entry) = self.entry(index) {
            entry.run_state = RunState::Idle;
            self.expire_pending_slot(index, MissedReason::StillRunning, now);
            self.sync_admission(index, now);
            self.remove_if_idle(index);
        }
        self.start_admitted(now, starts);
    }

    /// Starts no more checks. Waiting slots are left to the next start of the process, which knows the last planned
    /// time of each monitor; waiting on-demand runs are refused.
    pub fn stop(&mut self) {
        self.stopped = true;
        for index in 0..self.entries.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.timers.cancel(index);
            let Some(entry) = self.entry(index) else { continue };
            entry.pending_slot = None;
            if entry.run_state == RunState::Queued {
                entry.run_state = RunState::Idle;
                self.admission.release(index);
            }
        }
        for reply in std::mem::take(&mut self.orders).into_values().flatten() {
            reject_order(reply, RunOrderError::Stopped);
        }
        self.waiting_orders = 0;
    }

    /// Returns the time of the next timer.
    pub fn next_wake(&mut self) -> Option<Timestamp> {
        self.timers.next_at()
    }

    /// Removes and returns one series of missed runs to deliver.
    pub fn take_missed(&mut self) -> Option<MissedSeries> {
        self.missed.pop()
    }

    /// Whether missed runs wait for delivery.
    #[must_use]
    pub fn has_missed(&self) -> bool {
        !self.missed.is_empty()
    }

    /// Returns the number of planned monitors.
    #[must_use]
    pub fn planned(&self) -> usize {
        self.planned
    }

    /// Returns the number of runs that wait for admission. Excludes those that wait for the previous run of their
    /// monitor.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.admission.waiting()
    }

    /// Returns the number of running checks.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.admission.in_flight()
    }

    /// Returns the number of running checks of a concurrency class.
    #[must_use]
    pub fn in_flight_by_weight(&self, weight: Weight) -> usize {
        self.admission.in_flight_by_weight(weight)
    }

    pub(super) fn entry(&mut self, index: u32) -> Option<&mut QueueEntry> {
        self.entries.get_mut(index as usize)?.as_mut()
    }

    fn insert(&mut self, entry: QueueEntry) -> u32 {
        let id = entry.assignment.monitor_id;
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        self.entries[index as usize] = Some(entry);
        self.by_id.insert(id, index);
        index
    }
}

pub(super) fn reject_order(reply: ResultReply, error: RunOrderError) {
    // The caller may have stopped waiting.
    let _ = reply.send(Err(error));
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
