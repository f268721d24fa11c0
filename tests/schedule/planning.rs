//! Planned times, missed slots and the next run of a monitor.

use std::time::Duration;

use proptest::prelude::*;
use vigie::domain::{MonitorId, Timestamp};
use vigie::schedule::{CatchUp, LATENESS_TOLERANCE, SlotGrid};

const NOON: Timestamp = Timestamp::from_seconds(1_795_176_000);

#[test]
fn ten_thousand_late_starts_do_not_shift_the_slots() {
    let slots = SlotGrid::new(MonitorId(42), Duration::from_mins(1), None);
    let first = slots.first_slot_at_or_after(NOON);
    let mut planned = first;
    for round in 0..10_000_u64 {
        let late = Duration::from_micros(round * 7_919 % 999_999);
        let catch_up = CatchUp::decide(slots, planned, planned + late, MonitorId(42));
        assert_eq!((catch_up.missed, catch_up.next_run.planned_at), (None, planned));
        assert_eq!(catch_up.next_run.start_at, planned + late, "ordinary lateness starts at once");
        planned = slots.next_slot_after(planned);
    }
    assert_eq!(planned, first + Duration::from_mins(10_000));
}

#[test]
fn a_future_slot_starts_at_its_planned_time() {
    let slots = SlotGrid::new(MonitorId(1), Duration::from_mins(5), None);
    let due = slots.next_slot_after(NOON);
    // Also minutes ahead, as after the wall clock was set back.
    for back in [0, 1, 3600] {
        let catch_up = CatchUp::decide(slots, due, NOON - Duration::from_secs(back), MonitorId(1));
        assert_eq!(
            (catch_up.missed, catch_up.next_run.planned_at, catch_up.next_run.start_at),
            (None, due, due)
        );
    }
}

#[test]
fn a_slot_whose_interval_has_just_ended_is_missed_and_the_next_one_is_on_time() {
    let slots = SlotGrid::new(MonitorId(9), Duration::from_mins(1), None);
    let due = slots.next_slot_after(NOON);
    let catch_up = CatchUp::decide(slots, due, due + Duration::from_mins(1), MonitorId(9));
    let missed = catch_up.missed.unwrap();
    assert_eq!((missed.first, missed.last, missed.count), (due, due, 1));
    let next = due + Duration::from_mins(1);
    assert_eq!((catch_up.next_run.planned_at, catch_up.next_run.start_at), (next, next));
}

proptest! {
    #[test]
    fn every_slot_of_a_pause_is_counted_once(
        id in any::<i64>(),
        seconds in 1_u64..7200,
        behind in 0_u64..200,
        pause in 0_u64..1_000_000_000_000,
    ) {
        let slots = SlotGrid::new(MonitorId(id), Duration::from_secs(seconds), None);
        let due = slots.next_slot_after(NOON - Duration::from_secs(seconds * behind));
        let now = due + Duration::from_micros(pause);
        let catch_up = CatchUp::decide(slots, due, now, MonitorId(id));
        let missed = catch_up.missed.map_or(0, |missed| missed.count);
        prop_assert_eq!(missed, slots.count_slots_between(due, catch_up.next_run.planned_at));
        if let Some(missed) = catch_up.missed {
            prop_assert_eq!(missed.first, due);
            prop_assert_eq!(slots.next_slot_after(missed.last), catch_up.next_run.planned_at);
            prop_assert!(missed.last + slots.interval() <= now, "a slot was given up within its interval");
        }
        let next = catch_up.next_run;
        prop_assert!(next.planned_at <= now && now < next.planned_at + slots.interval());
        prop_assert!(now <= next.start_at && next.start_at < next.planned_at + slots.interval());
        if now.since(next.planned_at) < LATENESS_TOLERANCE {
            prop_assert_eq!(next.start_at, now);
        }
    }
}
