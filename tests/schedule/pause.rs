//! Starts after a pause of the process.

use std::collections::BTreeMap;
use std::time::Duration;

use vigie::domain::{MonitorId, Timestamp};
use vigie::schedule::{CatchUp, SlotGrid};

const NOON: Timestamp = Timestamp::from_seconds(1_795_176_000);
const MONITORS: i64 = 60_000;

/// Counts the starts in each second after a pause of `pause` from noon, ordinary runs included.
fn starts_per_second(interval: Duration, pause: Duration, offset: Option<Duration>) -> BTreeMap<i64, u32> {
    let now = NOON + pause;
    let mut starts = BTreeMap::<i64, u32>::new();
    for id in (1..=MONITORS).map(MonitorId) {
        let slots = SlotGrid::new(id, interval, offset);
        let next = CatchUp::decide(slots, slots.first_slot_at_or_after(NOON), now, id).next_run;
        for start in [next.start_at, slots.next_slot_after(next.planned_at)] {
            *starts.entry((start.as_micros() - now.as_micros()) / 1_000_000).or_default() += 1;
        }
    }
    starts
}

#[test]
fn after_a_pause_starts_stay_within_a_few_times_the_ordinary_rate() {
    let interval = Duration::from_mins(1);
    let ordinary = u32::try_from(MONITORS / 60).unwrap();
    for pause in [2, 10, 59, 60, 61, 600, 86_400] {
        let starts = starts_per_second(interval, Duration::from_secs(pause), None);
        let max = starts.values().max().copied().unwrap();
        // Runs within the lateness tolerance start immediately; then ordinary runs, and late ones at up to 2.2 times
        // their rate.
        assert!(
            max < ordinary * 9 / 2,
            "{max} starts in one second after {pause} s, ordinary are {ordinary}"
        );
    }
}

#[test]
fn monitors_with_the_same_slot_do_not_start_together_after_a_pause() {
    let starts = starts_per_second(Duration::from_mins(10), Duration::from_mins(5), Some(Duration::ZERO));
    let late: Vec<u32> = starts.range(0..300).map(|(_, &n)| n).collect();
    assert!(late.iter().all(|&n| n < 600), "{late:?}");
    assert_eq!(late.iter().sum::<u32>(), 60_000);
}

#[test]
fn a_short_stall_delays_a_run_by_at_most_one_and_a_half_times_its_length() {
    let slots = SlotGrid::new(MonitorId(3), Duration::from_hours(1), None);
    let due = slots.next_slot_after(NOON);
    for late in [1, 2, 5] {
        let now = due + Duration::from_secs(late);
        let next = CatchUp::decide(slots, due, now, MonitorId(3)).next_run;
        assert!(next.start_at.since(now) <= Duration::from_secs(late) * 3 / 2);
    }
}
