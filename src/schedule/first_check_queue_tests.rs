//! Tests of the turns of first checks.

use super::*;

const START: Timestamp = Timestamp::from_seconds(1_795_176_000);

fn locations(number: i64) -> Arc<[LocationId]> {
    (1..=number).map(LocationId).collect()
}

/// Starts all checks in time order; returns when each started.
fn start_all(queue: &mut FirstCheckQueue, mut now: Timestamp) -> Vec<(Timestamp, FirstCheck)> {
    let mut started = Vec::new();
    loop {
        match queue.take_next(now) {
            NextFirstCheck::Due(check) => {
                queue.end_turn(check.customer_id, true, now);
                started.push((now, check));
            }
            NextFirstCheck::DueAt(next_at) => {
                assert!(next_at > now);
                now = next_at;
            }
            NextFirstCheck::None => return started,
        }
    }
}

#[test]
fn an_account_starts_twenty_a_second_over_all_locations_and_delays_no_other() {
    let mut queue = FirstCheckQueue::default();
    for id in 1..=60 {
        queue.push(CustomerId(1), MonitorId(id), locations(2), START, START);
    }
    queue.push(CustomerId(2), MonitorId(100), locations(2), START, START);
    let started = start_all(&mut queue, START);
    let times = |customer: i64| -> Vec<Timestamp> {
        let of_customer = started.iter().filter(|(_, check)| check.customer_id == CustomerId(customer));
        of_customer.map(|(at, _)| *at).collect()
    };
    let many = times(1);
    assert_eq!(many.len(), 120);
    for (first, next_second) in many.iter().zip(&many[20..]) {
        assert!(next_second.since(*first) >= Duration::from_secs(1), "at most 20 within a second");
    }
    assert!(many[119].since(START) < Duration::from_secs(6), "and not slower");
    assert_eq!(times(2), [START, START + FIRST_CHECK_SPACING]);
    let of_one: Vec<i64> = started
        .iter()
        .filter(|(_, check)| check.monitor_id == MonitorId(7))
        .map(|(_, check)| check.location_id.0)
        .collect();
    assert_eq!(of_one, [1, 2], "each location once");
}

#[test]
fn the_rate_holds_for_checks_that_come_one_by_one() {
    let mut queue = FirstCheckQueue::default();
    let push = |queue: &mut FirstCheckQueue, id, now| {
        queue.push(CustomerId(1), MonitorId(id), locations(1), now, now);
    };
    push(&mut queue, 1, START);
    assert!(matches!(queue.take_next(START), NextFirstCheck::Due(_)));
    queue.end_turn(CustomerId(1), true, START);
    let soon = START + Duration::from_millis(10);
    assert_eq!(queue.take_next(soon), NextFirstCheck::None);
    push(&mut queue, 2, soon);
    assert_eq!(queue.take_next(soon), NextFirstCheck::DueAt(START + FIRST_CHECK_SPACING));
}

#[test]
fn a_later_change_replaces_the_checks_that_wait() {
    let mut queue = FirstCheckQueue::default();
    let later = START + Duration::from_secs(3);
    queue.push(CustomerId(1), MonitorId(1), locations(1), START, START);
    queue.push(CustomerId(1), MonitorId(2), locations(1), START, START);
    queue.push(CustomerId(1), MonitorId(2), locations(1), later, later);
    let started = start_all(&mut queue, later);
    let changes: Vec<_> = started.iter().map(|(_, check)| (check.monitor_id.0, check.planned_at)).collect();
    assert_eq!(changes, [(1, START), (2, later)]);
    assert!(queue.waiting.is_empty());
    assert_eq!(queue.take_next(later + Duration::from_secs(9)), NextFirstCheck::None);
    assert!(queue.accounts.is_empty() && queue.turns.is_empty(), "an idle account takes no memory");
}

#[test]
fn checks_that_do_not_start_take_no_time_and_let_the_others_go_first() {
    let mut queue = FirstCheckQueue::default();
    for id in 1..=3 {
        queue.push(CustomerId(1), MonitorId(id), locations(1), START, START);
    }
    queue.push(CustomerId(2), MonitorId(9), locations(1), START, START);
    let now = START + Duration::from_secs(1);
    let mut order = Vec::new();
    while let NextFirstCheck::Due(check) = queue.take_next(now) {
        order.push(check.monitor_id.0);
        queue.end_turn(check.customer_id, false, now);
    }
    assert_eq!(order, [1, 9, 2, 3]);
}

#[test]
fn a_clock_that_is_set_back_delays_nothing() {
    let mut queue = FirstCheckQueue::default();
    queue.push(CustomerId(1), MonitorId(1), locations(2), START, START);
    assert!(matches!(queue.take_next(START), NextFirstCheck::Due(_)));
    queue.end_turn(CustomerId(1), true, START);
    let back = START - Duration::from_hours(2);
    assert!(matches!(queue.take_next(back), NextFirstCheck::Due(_)));
}
