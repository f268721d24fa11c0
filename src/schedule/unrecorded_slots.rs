//! Slots without a record.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::catch_up::MissedSlots;
use super::location_slot_grid::LocationSlotGrid;
use crate::domain::Timestamp;

impl LocationSlotGrid {
    /// Returns the slots of `slots` that are in none of `recorded`, as evenly spaced series.
    #[must_use]
    pub fn unrecorded_slots(
        &self,
        slots: &RangeInclusive<Timestamp>,
        mut recorded: Vec<RangeInclusive<Timestamp>>,
    ) -> Vec<MissedSlots> {
        recorded.sort_unstable_by_key(|times| *times.start());
        let mut recorded = recorded.into_iter().peekable();
        let (mut unrecorded, mut recorded_until): (Vec<SlotSeries>, Option<Timestamp>) = (Vec::new(), None);
        let mut slot = self.next_slot_after(*slots.start() - Duration::from_micros(1));
        let mut follows_last = false;
        while slot <= *slots.end() {
            while let Some(times) = recorded.next_if(|times| *times.start() <= slot) {
                recorded_until = recorded_until.max(Some(*times.end()));
            }
            let is_recorded = recorded_until >= Some(slot);
            if !is_recorded {
                match unrecorded.last_mut() {
                    Some(last) if follows_last && last.can_continue_with(slot) => last.push(slot),
                    _ => unrecorded.push(SlotSeries::starting_with(slot)),
                }
            }
            follows_last = !is_recorded;
            slot = self.next_slot_after(slot);
        }
        unrecorded.into_iter().map(|series| series.slots).collect()
    }
}

/// Consecutive slots with the same distance.
struct SlotSeries {
    slots: MissedSlots,
    /// The distance; `None` for one slot.
    distance: Option<Duration>,
}

impl SlotSeries {
    fn starting_with(slot: Timestamp) -> Self {
        Self { slots: MissedSlots { first: slot, last: slot, count: 1 }, distance: None }
    }

    fn can_continue_with(&self, slot: Timestamp) -> bool {
        self.distance.is_none_or(|distance| slot.since(self.slots.last) == distance)
    }

    fn push(&mut self, slot: Timestamp) {
        self.distance = Some(slot.since(self.slots.last));
        self.slots.last = slot;
        self.slots.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::location_slot_grid::LocationRotation;
    use super::super::slot_grid::SlotGrid;
    use super::*;
    use crate::domain::MonitorId;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + second)
    }

    fn unrecorded(grid: &LocationSlotGrid, until: i64, recorded: &[(i64, i64)]) -> Vec<(i64, i64, u64)> {
        let recorded = recorded.iter().map(|(from, until)| at(*from)..=at(*until)).collect();
        let second = |time: Timestamp| (time.as_micros() - at(0).as_micros()) / 1_000_000;
        grid.unrecorded_slots(&(at(0)..=at(until)), recorded)
            .into_iter()
            .map(|series| (second(series.first), second(series.last), series.count))
            .collect()
    }

    fn minutes() -> SlotGrid {
        SlotGrid::new(MonitorId(1), Duration::from_mins(1), Some(Duration::ZERO))
    }

    #[test]
    fn recorded_slots_end_a_series() {
        let grid = LocationSlotGrid::from(minutes());
        assert_eq!(unrecorded(&grid, 300, &[]), [(0, 300, 6)]);
        assert_eq!(unrecorded(&grid, 299, &[(120, 120)]), [(0, 60, 2), (180, 240, 2)]);
        assert_eq!(unrecorded(&grid, 300, &[(240, 900), (-60, 60)]), [(120, 180, 2)]);
        assert_eq!(
            unrecorded(&grid, 300, &[(90, 95)]),
            [(0, 300, 6)],
            "a run between two slots is another one"
        );
        assert_eq!(unrecorded(&grid, 0, &[(-60, 0)]), []);
    }

    #[test]
    fn a_series_has_one_distance() {
        // The first of three locations of which two check each run: slots at 0, 60, 180, 240, 360 …
        let rotation = LocationRotation::from_positions([0, 3, 2], true, false).unwrap();
        let grid = LocationSlotGrid::new(minutes(), rotation);
        let slots: Vec<_> = std::iter::successors(Some(grid.next_slot_after(at(-1))), |slot| {
            Some(grid.next_slot_after(*slot))
        })
        .take(5)
        .collect();
        let series = grid.unrecorded_slots(&(at(0)..=slots[4]), Vec::new());
        assert!(series.len() > 1, "{slots:?}");
        for one in &series {
            let distance = one.last.since(one.first) / u32::try_from(one.count - 1).unwrap().max(1);
            let expected = (0..one.count).map(|i| one.first + distance * u32::try_from(i).unwrap());
            assert!(expected.into_iter().all(|slot| slots.contains(&slot)), "{one:?} of {slots:?}");
        }
        assert_eq!(series.iter().map(|one| one.count).sum::<u64>(), 5);
    }
}
