//! Tests that every slot is accounted for exactly once, whatever happens.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tokio::sync::oneshot;

use super::*;
use crate::domain::{
    CheckResult, CustomerId, EgressPrincipal, LocationId, MissedReason, MonitorType, Observation, Revision,
};
use crate::probe::{AttemptFuture, Probe, ProbeContext};
use crate::schedule::{LocationRotation, MissedSlots, RunPlan, SlotGrid};

pub(super) const START: Timestamp = Timestamp::from_seconds(1_795_176_000);
const HERE: LocationId = LocationId(1);
pub(super) const LIMITS: AdmissionLimits =
    AdmissionLimits { max_running: 3, max_light: 3, max_heavy: 1, max_per_target: 2, max_waiting: 2 };

struct InstantProbe(&'static str);

impl Probe for InstantProbe {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(std::future::ready(Observation::default()))
    }

    fn target_host(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// Even ids share a target, odd ids another one; the check of an id that 5 divides is heavy.
pub(super) fn assignment(id: i64, interval: Duration, offset: Option<Duration>) -> Assignment {
    Assignment {
        monitor_id: MonitorId(id),
        customer_id: CustomerId(1),
        egress_principal: EgressPrincipal::Operator,
        revision: Revision(1),
        monitor_name: "monitor".into(),
        billing_plancode: "basic".into(),
        monitor_type: MonitorType::Tcp,
        interval,
        schedule_offset: offset,
        location_rotation: LocationRotation::default(),
        attempt_timeout: Duration::from_secs(1),
        retries_failure: false,
        location_id: HERE,
        probe: Arc::new(InstantProbe(if id % 2 == 0 { "even.test" } else { "odd.test" })),
        concurrency_class: if id % 5 == 0 { ConcurrencyClass::Heavy } else { ConcurrencyClass::Light },
        allows_unscheduled_checks: true,
        last_planned_at: None,
        last_full_page_at: None,
    }
}

/// Returns the run plan of monitor `id` over locations 1 to 4. Location 1 is the local one.
fn plan(id: i64, seconds: u64, offset: Option<u64>, plan_index: usize) -> RunPlan {
    // Number of locations, locations per run, rotation, Round Robin.
    let plan_parameters = [
        (1, 1, false, false),
        (4, 3, true, false),
        (3, 1, true, false),
        (3, 3, false, true),
        (4, 2, true, true),
    ];
    let (pool, per_run, rotates, staggered) = plan_parameters[plan_index % plan_parameters.len()];
    let mut pool: Vec<_> = (1..=pool).map(LocationId).collect();
    let rotation = usize::try_from(id).unwrap() % pool.len();
    pool.rotate_left(rotation);
    let slots = SlotGrid::new(MonitorId(id), Duration::from_secs(seconds), offset.map(Duration::from_secs));
    RunPlan {
        slot_grid: slots,
        location_pool: pool,
        locations_per_run: per_run,
        rotates_locations: rotates,
        staggered,
        max_check_duration: Duration::from_secs(1),
    }
}

#[derive(Clone, Debug)]
enum Act {
    /// Advances the time, in milliseconds.
    Pass(u64),
    /// Sets the clock back, in seconds.
    Back(u64),
    /// Ends the run at this position in the list of running ones.
    End(usize),
    /// Adds or changes a monitor: its id, interval and offset in seconds, and the index of its plan in `plan()`.
    Put(i64, u64, Option<u64>, usize),
    /// Removes the monitor with this id.
    Remove(i64),
    /// Requests a run of the monitor with this id, as a test on demand does.
    RequestRun(i64),
    /// Requests the first check of the monitor with this id.
    First(i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let operation = prop_oneof![
        8 => (1_u64..950).prop_map(Act::Pass),
        2 => (900_u64..60_000).prop_map(Act::Pass),
        1 => (60_000_u64..2_000_000).prop_map(Act::Pass),
        1 => (1_u64..1500).prop_map(Act::Back),
        8 => (0_usize..4).prop_map(Act::End),
        3 => (1_i64..9, 1_u64..20, prop::option::of(0_u64..30), 0_usize..8)
            .prop_map(|(i, s, o, p)| Act::Put(i, s, o, p)),
        1 => (1_i64..9).prop_map(Act::Remove),
        1 => (1_i64..9).prop_map(Act::RequestRun),
        1 => (1_i64..9).prop_map(Act::First),
    ];
    prop::collection::vec(operation, 1..200)
}

/// The slots of one monitor that were due and are not accounted for.
struct Ledger {
    plan: RunPlan,
    /// Slots planned up to here were due.
    cursor: Timestamp,
    /// The newest slot that was due, accounted for or not.
    newest_due_slot: Timestamp,
    /// Due slots that have neither started nor been reported as missed.
    unaccounted_slots: BTreeSet<Timestamp>,
}

impl Ledger {
    fn new(plan: RunPlan, now: Timestamp) -> Self {
        let newest_due_slot = plan.slot_grid.last_slot_at_or_before(now);
        Self { plan, cursor: now, newest_due_slot, unaccounted_slots: BTreeSet::new() }
    }

    /// Returns the first slot after `planned` that this location checks, and its start here.
    fn next_local_slot_after(&self, planned: Timestamp) -> (Timestamp, Timestamp) {
        let mut planned = self.plan.slot_grid.next_slot_after(planned);
        loop {
            if let Some(start) = self.plan.location_start_at(planned, HERE) {
                return (planned, start);
            }
            planned = self.plan.slot_grid.next_slot_after(planned);
        }
    }

    fn record_due_slots(&mut self, now: Timestamp) {
        while let (planned, start) = self.next_local_slot_after(self.cursor)
            && start <= now
        {
            self.newest_due_slot = planned;
            self.cursor = planned;
            self.unaccounted_slots.insert(planned);
        }
    }

    fn change_plan(&mut self, plan: RunPlan, now: Timestamp) {
        if (self.plan.slot_grid, self.plan.location_rotation(HERE))
            != (plan.slot_grid, plan.location_rotation(HERE))
        {
            self.cursor = now.max(self.newest_due_slot);
        }
        self.plan = plan;
    }

    /// Accounts for `first..=last`; returns the number of these slots.
    fn remove_slots(&mut self, first: Timestamp, last: Timestamp) -> u64 {
        let before = self.unaccounted_slots.len();
        self.unaccounted_slots.retain(|slot| !(first..=last).contains(slot));
        (before - self.unaccounted_slots.len()) as u64
    }

    /// Whether all slots are accounted for but the newest, which may wait.
    fn is_complete(&self) -> bool {
        self.unaccounted_slots.iter().all(|slot| *slot == self.newest_due_slot)
    }
}

struct Simulation {
    queue: RunQueue,
    now: Timestamp,
    latest_time: Timestamp,
    running: Vec<(u32, MonitorId)>,
    ledgers: HashMap<MonitorId, Ledger>,
    /// The newest slot of removed monitors; it counts while their last run is in progress.
    newest_slot_of_removed: HashMap<MonitorId, Timestamp>,
    replies: Vec<oneshot::Receiver<Result<CheckResult, OnDemandRunError>>>,
}

impl Simulation {
    fn new() -> Self {
        Self {
            queue: RunQueue::new(LIMITS, START),
            now: START,
            latest_time: START,
            running: Vec::new(),
            ledgers: HashMap::new(),
            newest_slot_of_removed: HashMap::new(),
            replies: Vec::new(),
        }
    }

    fn act(&mut self, act: Act) -> Result<(), TestCaseError> {
        let mut starts = Vec::new();
        match act {
            Act::Pass(millis) => self.now = self.now + Duration::from_millis(millis),
            Act::Back(seconds) => {
                let back = self.now - Duration::from_secs(seconds);
                self.now = back.max(self.latest_time - Duration::from_mins(55)).min(self.now);
            }
            Act::End(position) => {
                if position < self.running.len() {
                    let (index, _) = self.running.remove(position);
                    self.queue.on_check_finished(index, self.now, &mut starts);
                }
            }
            Act::Put(id, seconds, offset, plan_index) => {
                let plan = plan(id, seconds, offset, plan_index);
                let mut assigned =
                    assignment(id, Duration::from_secs(seconds), offset.map(Duration::from_secs));
                assigned.location_rotation = plan.location_rotation(HERE).unwrap();
                let was_in_queue = self.queue.index_by_id.contains_key(&MonitorId(id));
                self.queue.upsert(Arc::new(assigned), self.now);
                let now = self.now;
                let ledger =
                    self.ledgers.entry(MonitorId(id)).or_insert_with(|| Ledger::new(plan.clone(), now));
                ledger.change_plan(plan, now);
                if let Some(newest_due_slot) =
                    self.newest_slot_of_removed.remove(&MonitorId(id)).filter(|_| was_in_queue)
                {
                    ledger.cursor = ledger.cursor.max(newest_due_slot);
                    ledger.newest_due_slot = ledger.newest_due_slot.max(newest_due_slot);
                }
            }
            Act::Remove(id) => {
                self.queue.remove(MonitorId(id));
                if let Some(ledger) = self.ledgers.remove(&MonitorId(id)) {
                    self.newest_slot_of_removed.insert(MonitorId(id), ledger.newest_due_slot);
                }
            }
            Act::RequestRun(id) => {
                let (reply, receiver) = oneshot::channel();
                self.queue.request_run(MonitorId(id), self.now, reply);
                self.replies.push(receiver);
            }
            Act::First(id) => {
                self.queue.request_first_check(MonitorId(id), self.now, self.now);
            }
        }
        self.tick_and_check(starts)
    }

    fn tick_and_check(&mut self, mut starts: Vec<CheckStart>) -> Result<(), TestCaseError> {
        self.latest_time = self.latest_time.max(self.now);
        for ledger in self.ledgers.values_mut() {
            ledger.record_due_slots(self.now);
        }
        while self.queue.tick(self.now, &mut starts) {}
        for start in starts {
            let id = start.assignment.monitor_id;
            prop_assert!(self.running.iter().all(|r| r.1 != id), "monitor {} overlaps itself", id);
            self.running.push((start.monitor_index, id));
            if start.trigger.is_schedule() {
                let ledger = self.ledgers.get_mut(&id).expect("a monitor that is not planned has started");
                prop_assert_eq!(ledger.newest_due_slot, start.planned_at, "started after its interval");
                if let Some(due) = ledger
                    .plan
                    .location_start_at(start.planned_at, HERE)
                    .filter(|_| ledger.plan.rotates_locations)
                {
                    let end = due + ledger.plan.slot_grid.interval();
                    prop_assert!(self.now < end, "started after its interval, long before the next slot");
                }
                prop_assert_eq!(ledger.remove_slots(start.planned_at, start.planned_at), 1, "ran twice");
            }
        }
        prop_assert!(
            self.running.len() <= LIMITS.max_running && self.queue.running_checks() == self.running.len()
        );
        while let Some(series) = self.queue.pop_missed_series() {
            // Missed runs of a removed monitor are delivered, but no longer in the ledger.
            let Some(ledger) = self.ledgers.get_mut(&series.assignment.monitor_id) else { continue };
            let MissedSlots { first, last, count } = series.slots;
            prop_assert_eq!(
                ledger.remove_slots(first, last),
                count,
                "{:?}, now {}, cursor {}, newest {}",
                series,
                self.now,
                ledger.cursor,
                ledger.newest_due_slot
            );
        }
        for (id, ledger) in &self.ledgers {
            prop_assert!(ledger.is_complete(), "monitor {} has lost {:?}", id, ledger.unaccounted_slots);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn every_slot_runs_or_is_missed_exactly_once_and_nothing_overlaps(acts in acts()) {
        let mut simulation = Simulation::new();
        for act in acts {
            simulation.act(act)?;
        }
        // Everything can be ended: no admission is leaked.
        for id in 1..9 {
            simulation.act(Act::Remove(id))?;
        }
        while !simulation.running.is_empty() {
            simulation.act(Act::End(0))?;
        }
        prop_assert_eq!((simulation.queue.running_checks(), simulation.queue.waiting_checks(), simulation.queue.planned_monitors()), (0, 0, 0));
        prop_assert!(simulation.queue.waiting_first_checks.is_empty() && simulation.queue.index_by_id.is_empty() && simulation.queue.timers.is_empty());
        for mut receiver in simulation.replies {
            prop_assert!(receiver.try_recv() != Err(oneshot::error::TryRecvError::Empty), "a run was forgotten");
        }
    }
}

/// Runs one monitor for `slots` slots, each run taking `duration`; returns the planned times that ran, and the missed
/// runs.
fn run_alone(duration: Duration, slots: u32) -> (Vec<Timestamp>, Vec<(MissedReason, u64)>) {
    let mut queue = RunQueue::new(LIMITS, START);
    let interval = Duration::from_mins(1);
    queue.upsert(Arc::new(assignment(1, interval, Some(Duration::ZERO))), START);
    let (mut ran, mut missed, mut starts, mut next_end) = (Vec::new(), Vec::new(), Vec::new(), None);
    let mut now = START;
    while now < START + interval * slots {
        now = now + Duration::from_millis(500);
        queue.tick(now, &mut starts);
        if let Some((index, _)) = next_end.take_if(|(_, at)| *at <= now) {
            queue.on_check_finished(index, now, &mut starts);
        }
        for start in starts.drain(..) {
            ran.push(start.planned_at);
            next_end = Some((start.monitor_index, now + duration));
        }
        missed.extend(std::iter::from_fn(|| queue.pop_missed_series()).map(|m| (m.reason, m.slots.count)));
    }
    (ran, missed)
}

#[test]
fn runs_that_outlast_their_interval_a_little_skip_one_slot_in_seven() {
    let (ran, missed) = run_alone(Duration::from_secs(70), 70);
    assert_eq!(ran.len() + missed.len(), 69, "and the last slot waits");
    assert_eq!(missed.len(), 9, "{missed:?}");
    assert!(missed.iter().all(|m| *m == (MissedReason::StillRunning, 1)));
}

#[test]
fn runs_shorter_than_their_interval_skip_none() {
    let (ran, missed) = run_alone(Duration::from_secs(59), 50);
    assert_eq!((ran.len(), missed.len()), (50, 0));
}

#[test]
fn slots_since_the_last_recorded_run_before_the_start_are_missed() {
    let mut queue = RunQueue::new(LIMITS, START);
    let interval = Duration::from_mins(1);
    let mut assigned = assignment(1, interval, Some(Duration::from_secs(30)));
    let last = START - Duration::from_secs(30 + 4 * 60);
    assigned.last_planned_at = Some(last);
    queue.upsert(Arc::new(assigned), START);
    let series = queue.pop_missed_series().unwrap();
    assert_eq!((series.reason, series.slots.count), (MissedReason::NotRunning, 3));
    assert_eq!((series.slots.first, series.slots.last), (last + interval, last + interval * 3));
    // The newest slot, half a minute old, still runs within its interval.
    let mut starts = Vec::new();
    let timer_at = queue.next_timer_at().unwrap();
    assert!(timer_at > START && timer_at < START + Duration::from_secs(30));
    queue.tick(timer_at, &mut starts);
    assert_eq!(starts.first().map(|start| start.planned_at), Some(START - Duration::from_secs(30)));
}

#[test]
fn a_restart_within_the_interval_misses_nothing_and_runs_no_slot_twice() {
    let mut queue = RunQueue::new(LIMITS, START);
    let mut assigned = assignment(1, Duration::from_mins(1), Some(Duration::ZERO));
    assigned.last_planned_at = Some(START);
    queue.upsert(Arc::new(assigned), START + Duration::from_secs(5));
    assert!(queue.pop_missed_series().is_none());
    assert_eq!(queue.next_timer_at(), Some(START + Duration::from_mins(1)));
}

#[test]
fn monitors_are_replanned_after_the_clock_was_set_back_by_a_day() {
    let mut queue = RunQueue::new(LIMITS, START);
    queue.upsert(Arc::new(assignment(1, Duration::from_mins(1), Some(Duration::ZERO))), START);
    let back = START - Duration::from_hours(24);
    queue.tick(back, &mut Vec::new());
    assert_eq!(queue.next_timer_at(), Some(back + Duration::from_mins(1)));
}

#[test]
fn a_full_queue_misses_slots_as_overload_and_refuses_on_demand_runs() {
    let mut run_queue = RunQueue::new(AdmissionLimits { max_running: 1, max_waiting: 1, ..LIMITS }, START);
    for id in [1, 3, 7] {
        run_queue.upsert(Arc::new(assignment(id, Duration::from_mins(1), Some(Duration::ZERO))), START);
    }
    let mut starts = Vec::new();
    run_queue.tick(START + Duration::from_mins(1), &mut starts);
    assert_eq!((starts.len(), run_queue.waiting_checks()), (1, 1));
    let series = run_queue.pop_missed_series().unwrap();
    assert_eq!((series.reason, series.slots.count), (MissedReason::Overload, 1));
    let (reply, mut receiver) = oneshot::channel();
    run_queue.request_run(series.assignment.monitor_id, START + Duration::from_mins(1), reply);
    assert_eq!(receiver.try_recv(), Ok(Err(OnDemandRunError::QueueFull)));
}

#[test]
fn late_slots_of_a_busy_runner_are_overload_and_those_of_a_suspension_are_not() {
    for (gap_ms, reason) in [(1900, MissedReason::Overload), (4000, MissedReason::ProcessSuspended)] {
        let mut queue = RunQueue::new(LIMITS, START);
        queue.upsert(Arc::new(assignment(1, Duration::from_secs(1), Some(Duration::ZERO))), START);
        let before = START + Duration::from_millis(500);
        queue.tick(before, &mut Vec::new());
        queue.tick(before + Duration::from_millis(gap_ms), &mut Vec::new());
        assert_eq!(queue.pop_missed_series().map(|series| series.reason), Some(reason), "after {gap_ms} ms");
    }
}

/// Returns what location 1 of `plan` starts within `minutes`, each run ending at once: planned time, and due time
/// there.
fn started_runs(plan: &RunPlan, minutes: u64) -> Vec<(Timestamp, Timestamp)> {
    let mut queue = RunQueue::new(LIMITS, START);
    let mut assigned = assignment(1, Duration::from_mins(1), Some(Duration::ZERO));
    assigned.location_rotation = plan.location_rotation(HERE).unwrap();
    queue.upsert(Arc::new(assigned), START);
    let (mut ran, mut starts) = (Vec::new(), Vec::new());
    while let Some(now) =
        queue.next_timer_at().filter(|timer_at| *timer_at <= START + Duration::from_mins(minutes))
    {
        queue.tick(now, &mut starts);
        for start in starts.split_off(0) {
            assert_eq!(start.location_start_at, now, "it starts when it is due");
            ran.push((start.planned_at, start.location_start_at));
            queue.on_check_finished(start.monitor_index, now, &mut starts);
        }
        assert!(starts.is_empty() && queue.pop_missed_series().is_none());
    }
    ran
}

#[test]
fn under_rotation_runs_of_other_locations_are_not_missed() {
    let plan = plan(2, 60, Some(0), 2);
    let ran = started_runs(&plan, 30);
    let mut expected = Vec::new();
    for minute in 1..=30 {
        let planned = START + Duration::from_mins(minute);
        if plan.locations_of_run(planned) == [HERE] {
            expected.push((planned, planned));
        }
    }
    assert_eq!((ran.len(), &ran), (10, &expected));
}

#[test]
fn the_second_of_three_round_robin_locations_starts_a_third_of_the_interval_later() {
    let plan = RunPlan { location_pool: [3, 1, 2].map(LocationId).to_vec(), ..plan(1, 60, Some(0), 3) };
    for (minute, (planned, due)) in (1..).zip(started_runs(&plan, 10)) {
        assert_eq!(planned, START + Duration::from_mins(minute), "the run is the same everywhere");
        assert_eq!(due, planned + Duration::from_secs(20));
    }
}

#[test]
fn a_slot_under_rotation_that_waits_longer_than_its_interval_is_missed() {
    let mut queue = RunQueue::new(AdmissionLimits { max_running: 1, ..LIMITS }, START);
    let mut assigned = assignment(1, Duration::from_mins(1), Some(Duration::ZERO));
    let plan = plan(1, 60, Some(0), 2);
    assigned.location_rotation = plan.location_rotation(HERE).unwrap();
    queue.upsert(Arc::new(assigned), START);
    // Another monitor occupies the only running slot.
    let mut starts = Vec::new();
    let (reply, _receiver) = oneshot::channel();
    queue.request_run_of_assignment(Arc::new(assignment(3, Duration::from_mins(1), None)), START, reply);
    queue.collect_admitted(START, &mut starts);
    let planned = queue.next_timer_at().unwrap();
    queue.tick(planned, &mut starts);
    assert_eq!((starts.len(), queue.waiting_checks()), (1, 1));
    let late = planned + Duration::from_secs(61);
    queue.tick(planned + Duration::from_mins(1), &mut starts);
    queue.on_check_finished(starts.remove(0).monitor_index, late, &mut starts);
    let series = queue.pop_missed_series().unwrap();
    assert_eq!((starts.len(), series.reason), (0, MissedReason::Overload));
    assert_eq!((series.slots.first, series.slots.count), (planned, 1));
    assert_eq!(queue.next_timer_at(), Some(planned + Duration::from_mins(3)));
}

/// A million monitors must fit in 2 GB with everything else that they need (architecture.md 7).
#[test]
fn the_schedule_of_a_monitor_stays_small() {
    let (entry, assignment) = (size_of::<MonitorSchedule>(), size_of::<Assignment>());
    assert!(entry <= 96 && assignment <= 200, "{entry} and {assignment} bytes");
}
