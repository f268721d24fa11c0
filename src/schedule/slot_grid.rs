//! The slot grid of one monitor.

use std::time::Duration;

use crate::domain::id::mix_hash;
use crate::domain::{MonitorId, Timestamp};

/// The planned times of one monitor: `first slot + k · interval` since the epoch, for every integer `k`.
///
/// Without an offset the first slot is a hash of the monitor's id, so that the monitors of an installation spread
/// over the interval and keep their slots over restarts. Two grids of one monitor are equal exactly when they have the
/// same slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotGrid {
    /// Microseconds between two slots, at least 1.
    interval_us: i64,
    /// Microseconds from the epoch to the first slot, less than `interval`.
    first_slot_us: i64,
}

impl SlotGrid {
    /// Creates the grid of monitor `monitor_id`. `offset` counts from 00:00 UTC (fields.md 3 `monitor_offset`); every
    /// interval of interface.md 2.1 divides the day, so the grid is the same on each day.
    #[must_use]
    pub fn new(monitor_id: MonitorId, interval: Duration, offset: Option<Duration>) -> Self {
        let interval = to_micros(interval).max(1);
        let first_slot = match offset {
            Some(offset) => to_micros(offset) % interval,
            None => scale_hash(mix_hash(SLOT_SEED, monitor_id.0), interval),
        };
        Self { interval_us: interval, first_slot_us: first_slot }
    }

    /// Returns the time between two slots.
    #[must_use]
    pub fn interval(&self) -> Duration {
        Duration::from_micros(self.interval_us.unsigned_abs())
    }

    /// Returns the microseconds between two slots, at least 1.
    pub(super) const fn interval_micros(&self) -> i64 {
        self.interval_us
    }

    /// Returns the last slot that is not after `time`.
    #[must_use]
    pub fn last_slot_at_or_before(&self, time: Timestamp) -> Timestamp {
        let micros_since_slot =
            time.as_micros().saturating_sub(self.first_slot_us).rem_euclid(self.interval_us);
        Timestamp::from_micros(time.as_micros().saturating_sub(micros_since_slot))
    }

    /// Returns the first slot that is not before `time`.
    #[must_use]
    pub fn first_slot_at_or_after(&self, time: Timestamp) -> Timestamp {
        let slot = self.last_slot_at_or_before(time);
        if slot == time { slot } else { slot + self.interval() }
    }

    /// Returns the first slot after `planned`, which need not be a slot of this grid. The next run follows from the
    /// planned time of the last one, never from its actual start, so lateness does not add up.
    #[must_use]
    pub fn next_slot_after(&self, planned: Timestamp) -> Timestamp {
        self.last_slot_at_or_before(planned) + self.interval()
    }

    /// Returns the number of slots in `start..end`.
    #[must_use]
    pub fn count_slots_between(&self, start: Timestamp, end: Timestamp) -> u64 {
        let first = self.first_slot_at_or_after(start);
        if first >= end {
            return 0;
        }
        let span = i128::from(end.as_micros()) - i128::from(first.as_micros());
        let interval = i128::from(self.interval_us);
        u64::try_from((span + interval - 1) / interval).unwrap_or(u64::MAX)
    }
}

/// Separates the hash of slots from other hashes of the same id.
const SLOT_SEED: u64 = 0x736c_6f74;

/// Scales `hash` to `0..upper_bound`: 0 at hash 0, just below `upper_bound` at the largest hash.
pub(super) fn scale_hash(hash: u64, upper_bound: i64) -> i64 {
    let product = u128::from(hash) * u128::from(upper_bound.unsigned_abs());
    i64::try_from(product >> 64).unwrap_or(0)
}

fn to_micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    #[test]
    fn a_slot_is_stable_over_versions() {
        let slots = SlotGrid::new(MonitorId(4711), Duration::from_mins(5), None);
        assert_eq!(slots.first_slot_at_or_after(at(0)), at(FIRST_SLOT_OF_4711));
    }

    /// A change of this value would move the slots of every installation at its next update.
    const FIRST_SLOT_OF_4711: i64 = 19_603_618;

    #[test]
    fn an_offset_counts_from_midnight_utc() {
        let slots = SlotGrid::new(MonitorId(1), Duration::from_hours(2), Some(Duration::from_mins(150)));
        let midnight = Timestamp::parse("2026-11-20T00:00:00Z").unwrap();
        assert_eq!(slots.first_slot_at_or_after(midnight), midnight + Duration::from_mins(30));
    }

    #[test]
    fn ids_in_a_row_spread_over_the_interval() {
        let interval = Duration::from_mins(1);
        let mut per_second = [0_u32; 60];
        for id in 1..=60_000 {
            let first = SlotGrid::new(MonitorId(id), interval, None).first_slot_at_or_after(at(0));
            per_second[usize::try_from(first.as_micros() / 1_000_000).unwrap()] += 1;
        }
        assert!(per_second.iter().all(|&n| (850..1150).contains(&n)), "{per_second:?}");
    }

    #[test]
    fn times_at_the_ends_of_the_calendar_do_not_overflow() {
        let slots = SlotGrid::new(MonitorId(1), Duration::MAX, Some(Duration::MAX));
        for time in [i64::MIN, 0, i64::MAX] {
            let _ = (slots.first_slot_at_or_after(at(time)), slots.next_slot_after(at(time)));
            let _ = slots.count_slots_between(at(i64::MIN), at(time));
        }
    }

    proptest! {
        #[test]
        fn neighbours_of_a_time_are_slots_one_interval_apart(
            id in any::<i64>(),
            seconds in 1_u64..7200,
            time in -4_000_000_000_000_000_i64..4_000_000_000_000_000,
        ) {
            let slots = SlotGrid::new(MonitorId(id), Duration::from_secs(seconds), None);
            let (last, first, next) =
                (slots.last_slot_at_or_before(at(time)), slots.first_slot_at_or_after(at(time)), slots.next_slot_after(at(time)));
            prop_assert!(last <= at(time) && at(time) <= first && at(time) < next);
            prop_assert_eq!(next, last + slots.interval());
            prop_assert!(first == last || first == next);
            prop_assert_eq!(slots.count_slots_between(last, next), 1);
            prop_assert_eq!(slots.count_slots_between(last, next + slots.interval()), 2);
        }

        #[test]
        fn counting_slots_equals_walking_them(
            id in any::<i64>(), seconds in 1_u64..50, from in 0_i64..1_000_000_000, span in 0_i64..500_000_000,
        ) {
            let slots = SlotGrid::new(MonitorId(id), Duration::from_secs(seconds), None);
            let mut walked_count = 0;
            let mut slot = slots.first_slot_at_or_after(at(from));
            while slot < at(from + span) {
                walked_count += 1;
                slot = slots.next_slot_after(slot);
            }
            prop_assert_eq!(slots.count_slots_between(at(from), at(from + span)), walked_count);
        }
    }
}
