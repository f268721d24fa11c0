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
    /// To be handed back when it has ended.
    pub index: u32,
    /// What to run.
    pub assignment: Arc<Assignment>,
    /// The slot that it is for; of an order, now.
    pub planned_at: Timestamp,
    /// When that slot is due here.
    pub due_at: Timestamp,
    /// Set for an order: its result goes here and nowhere else.
    pub reply: Option<ResultReply>,
}

/// Orders that wait at most, over all monitors.
pub const MAX_ORDERS: usize = 256;

/// Due timers that one [`RunQueue::tick`] takes at most, so that commands and ends of checks are not held up.
pub(super) const MAX_TIMERS_PER_TICK: usize = 4096;

/// Time between two ticks that is more than a busy runner explains: it looks up every second.
pub(super) const PAUSE_THRESHOLD: Duration = Duration::from_secs(2);

/// A clock that is set back by up to this much is waited for; no slot runs twice then. Beyond it the monitors
/// would stay unwatched for too long, and are planned anew from what the clock says now.
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
    /// The latest time that was told; ahead of the clock after that was set back.
    pub(super) latest_now: Timestamp,
    ticked_at: Timestamp,
    /// End of the last stretch in which nobody ticked: what came due before then was late by a pause.
    pub(super) paused_until: Timestamp,
    pub(super) stopped: bool,
}

impl RunQueue {
    /// An agenda without monitors.
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

    /// Plans a monitor, or takes its new version. A new version keeps the grid, the slot that waits, and what
    /// runs, unless interval, offset or its part in the runs changed: then its new grid begins now.
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
        let grid = assignment.grid();
        entry.update_assignment(assignment);
        if !entry.planned {
            // Slots that passed while it was not planned are nobody's.
            entry.last_handled = entry.last_handled.max(grid.slots().last_at_or_before(now));
            entry.change_grid(grid, now);
            self.start_planning(index);
        } else if entry.grid != grid {
            if let (None, Some(late)) = (entry.pending_slot, entry.take_delayed_slot()) {
                entry.pending_slot = Some(late);
            }
            entry.change_grid(grid, now);
            let wake = entry.wake_at;
            self.timers.set(index, wake);
        }
        self.sync_admission(index, now);
    }

    /// Ends the planning of a monitor. What runs goes on; a slot that waited is dropped.
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

    /// Asks for a run of `id` out of its schedule. It takes a place like any other, and the monitor's next
    /// turn: it never runs beside another run of the monitor.
    pub fn order_run(&mut self, id: MonitorId, now: Timestamp, reply: ResultReply) {
        let index =
            self.by_id.get(&id).copied().filter(|&index| self.entry(index).is_some_and(|e| e.planned));
        match index {
            None => reject_order(reply, RunOrderError::NotPlanned),
            Some(index) => self.queue_order(index, now, reply),
        }
    }

    /// Like [`RunQueue::order_run`], for a monitor that need not be planned.
    pub fn order_run_once(&mut self, assignment: Arc<Assignment>, now: Timestamp, reply: ResultReply) {
        let index = match self.by_id.get(&assignment.monitor_id) {
            Some(&index) => index,
            None => self.insert(QueueEntry::new(assignment, now)),
        };
        self.queue_order(index, now, reply);
    }

    /// Lets the time be `now` and collects what starts. True when more timers are due: call again soon.
    pub fn tick(&mut self, now: Timestamp, starts: &mut Vec<StartRun>) -> bool {
        if now + CLOCK_STEP_TOLERANCE < self.latest_now && !self.stopped {
            self.replan_all(now);
            self.latest_now = now;
        }
        self.latest_now = self.latest_now.max(now);
        if now.since(self.ticked_at) > PAUSE_THRESHOLD {
            self.paused_until = now;
        }
        // A pause that ended ahead of a clock that was set back explains nothing that comes now.
        self.paused_until = self.paused_until.min(now);
        self.ticked_at = now;
        let mut more = true;
        for _ in 0..MAX_TIMERS_PER_TICK {
            let Some(index) = self.timers.pop_due(now) else {
                more = false;
                break;
            };
            self.fire_slot(index, now);
            self.sync_admission(index, now);
            // One by one: the queue is for those that find no place, not for those that came together.
            self.start_admitted(now, starts);
        }
        self.start_admitted(now, starts);
        more
    }

    /// The check that was started as `index` has ended, its result is handed over.
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

    /// Starts nothing any more: slots that wait are left to the next start of the process, which knows the
    /// last planned time of each monitor; orders that wait are refused.
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

    /// When the next timer ends.
    pub fn next_wake(&mut self) -> Option<Timestamp> {
        self.timers.next_at()
    }

    /// Takes one series of missed runs to hand over.
    pub fn take_missed(&mut self) -> Option<MissedSeries> {
        self.missed.pop()
    }

    /// Whether missed runs wait to be handed over.
    #[must_use]
    pub fn has_missed(&self) -> bool {
        !self.missed.is_empty()
    }

    /// Monitors that are planned.
    #[must_use]
    pub fn planned(&self) -> usize {
        self.planned
    }

    /// Runs that wait for a place. Those that wait for the previous run of their monitor are not among them.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.admission.waiting()
    }

    /// Checks that run.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.admission.in_flight()
    }

    /// Checks of a weight class that run.
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
    // Whoever asked may have gone.
    let _ = reply.send(Err(error));
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
