//! Tests of first checks in the queue.

use super::tests::{LIMITS, START, assignment};
use super::*;

const MINUTE: Duration = Duration::from_mins(1);

/// Returns a queue that plans the monitors `ids` for the full minute.
fn queue_with_monitors(limits: AdmissionLimits, ids: &[i64]) -> RunQueue {
    let mut queue = RunQueue::new(limits, START);
    for id in ids {
        queue.upsert(Arc::new(assignment(*id, MINUTE, Some(Duration::ZERO))), START);
    }
    queue
}

fn tick_and_list_starts(queue: &mut RunQueue, now: Timestamp) -> Vec<(i64, CheckTrigger, Timestamp)> {
    let mut starts = Vec::new();
    queue.tick(now, &mut starts);
    starts.iter().map(|start| (start.assignment.monitor_id.0, start.trigger, start.planned_at)).collect()
}

#[test]
fn a_first_check_starts_at_once_and_covers_no_slot() {
    let mut queue = queue_with_monitors(LIMITS, &[1]);
    let changed_at = START + Duration::from_secs(59);
    assert!(queue.request_first_check(MonitorId(1), changed_at, changed_at));
    assert_eq!(tick_and_list_starts(&mut queue, changed_at), [(1, CheckTrigger::First, changed_at)]);
    let due = START + MINUTE;
    assert!(tick_and_list_starts(&mut queue, due).is_empty(), "the slot waits for its end");
    let mut starts = Vec::new();
    queue.on_check_finished(0, due + Duration::from_secs(1), &mut starts);
    assert_eq!((starts[0].trigger, starts[0].planned_at), (CheckTrigger::Schedule, due));
    assert!(queue.pop_missed_series().is_none());
}

#[test]
fn planned_runs_start_before_first_checks_and_never_lose_their_place_to_them() {
    let mut queue =
        queue_with_monitors(AdmissionLimits { max_running: 1, max_waiting: 2, ..LIMITS }, &[1, 3, 7, 9]);
    let changed_at = START + Duration::from_secs(50);
    for id in [1, 3, 7] {
        assert!(queue.request_first_check(MonitorId(id), changed_at, changed_at), "{id}");
        queue.collect_admitted(changed_at, &mut Vec::new());
    }
    assert!(!queue.request_first_check(MonitorId(9), changed_at, changed_at), "the queue is full");
    // The first checks of 3 and 7 wait; the run of 9 takes the place of one, and the others become planned runs.
    let due = START + MINUTE;
    assert!(tick_and_list_starts(&mut queue, due).is_empty());
    let mut order = Vec::new();
    let mut starts = Vec::new();
    queue.on_check_finished(0, due, &mut starts);
    while let Some(start) = starts.pop() {
        order.push((start.assignment.monitor_id.0, start.trigger));
        queue.on_check_finished(start.monitor_index, due, &mut starts);
    }
    let first_check_position = order.iter().position(|(_, trigger)| *trigger == CheckTrigger::First);
    let last_planned_position = order.iter().rposition(|(_, trigger)| *trigger == CheckTrigger::Schedule);
    assert!(
        last_planned_position.is_some()
            && first_check_position.is_none_or(|first| Some(first) > last_planned_position),
        "{order:?}"
    );
}

#[test]
fn a_first_check_is_refused_where_it_must_not_run() {
    let mut queue = queue_with_monitors(LIMITS, &[1, 3]);
    let mut planned_runs_only = assignment(3, MINUTE, Some(Duration::ZERO));
    planned_runs_only.allows_unscheduled_checks = false;
    queue.upsert(Arc::new(planned_runs_only), START);
    assert!(!queue.request_first_check(MonitorId(3), START, START), "planned runs only");
    assert!(!queue.request_first_check(MonitorId(5), START, START), "not planned here");
    assert!(
        !queue.request_first_check(MonitorId(1), START, START + MINUTE),
        "planned runs have checked it by then"
    );
    queue.stop();
    assert!(!queue.request_first_check(MonitorId(1), START, START));
}

#[test]
fn a_first_check_that_waits_is_dropped_with_its_monitor_and_when_it_is_overtaken() {
    let mut queue = queue_with_monitors(AdmissionLimits { max_running: 1, ..LIMITS }, &[1, 3, 7]);
    for id in [1, 3, 7] {
        assert!(queue.request_first_check(MonitorId(id), START, START));
        queue.collect_admitted(START, &mut Vec::new());
    }
    queue.remove(MonitorId(3));
    assert_eq!(queue.waiting_checks(), 1);
    let mut starts = Vec::new();
    let mut frequent = assignment(7, Duration::from_hours(2), Some(Duration::ZERO));
    frequent.interval = Duration::from_secs(5);
    queue.upsert(Arc::new(frequent), START);
    queue.tick(START + Duration::from_secs(1), &mut starts);
    queue.on_check_finished(0, START + Duration::from_secs(2), &mut starts);
    assert_eq!(starts.len(), 1, "within a minute it runs, however short the interval is");
    assert_eq!(starts[0].trigger, CheckTrigger::First);
}
