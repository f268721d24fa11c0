//! Sets of time ranges.

use crate::domain::Timestamp;

/// Half-open time ranges, each from its start up to but excluding its end; in order and disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeRanges(Vec<(Timestamp, Timestamp)>);

impl TimeRanges {
    /// Returns the union of `ranges`, which may overlap and be in any order.
    #[must_use]
    pub fn from_ranges(mut ranges: Vec<(Timestamp, Timestamp)>) -> Self {
        ranges.retain(|(from, until)| from < until);
        ranges.sort_unstable();
        let mut merged: Vec<(Timestamp, Timestamp)> = Vec::with_capacity(ranges.len());
        for (from, until) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(until),
                _ => merged.push((from, until)),
            }
        }
        Self(merged)
    }

    /// Whether `time` lies in one of the ranges.
    #[must_use]
    pub fn contains(&self, time: Timestamp) -> bool {
        let next = self.0.partition_point(|(from, _)| *from <= time);
        next.checked_sub(1).is_some_and(|last| time < self.0[last].1)
    }

    /// Returns these ranges without those of `others`.
    #[must_use]
    pub fn subtract(&self, others: &Self) -> Self {
        let mut remaining = Vec::with_capacity(self.0.len());
        for &(from, until) in &self.0 {
            let mut from = from;
            let first = others.0.partition_point(|(_, end)| *end <= from);
            for &(start, end) in others.0[first..].iter().take_while(|(start, _)| *start < until) {
                if from < start {
                    remaining.push((from, start));
                }
                from = from.max(end);
            }
            if from < until {
                remaining.push((from, until));
            }
        }
        Self(remaining)
    }

    /// Returns the total length in microseconds.
    #[must_use]
    pub fn total_micros(&self) -> u64 {
        self.0.iter().map(|(from, until)| until.as_micros().abs_diff(from.as_micros())).sum()
    }

    /// Returns the part of the ranges in `from..until`.
    #[must_use]
    pub fn clip(&self, from: Timestamp, until: Timestamp) -> Self {
        let parts = self.0.iter().map(|(start, end)| ((*start).max(from), (*end).min(until)));
        Self(parts.filter(|(start, end)| start < end).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time_ranges(parts: &[(i64, i64)]) -> TimeRanges {
        let at = Timestamp::from_micros;
        TimeRanges::from_ranges(parts.iter().map(|&(from, until)| (at(from), at(until))).collect())
    }

    fn pairs_strategy() -> impl Strategy<Value = Vec<(i64, i64)>> {
        prop::collection::vec((0_i64..60, 0_i64..60), 0..8)
    }

    proptest! {
        #[test]
        fn set_operations_agree_with_their_ranges(a in pairs_strategy(), b in pairs_strategy(), from in 0_i64..60, until in 0_i64..60) {
            let (all, subtracted) = (time_ranges(&a), time_ranges(&b));
            let (difference, clipped) = (all.subtract(&subtracted), all.clip(Timestamp::from_micros(from), Timestamp::from_micros(until)));
            let inside = |parts: &[(i64, i64)], at: i64| parts.iter().any(|&(from, until)| from <= at && at < until);
            for at in -1..61 {
                let moment = Timestamp::from_micros(at);
                prop_assert_eq!(all.contains(moment), inside(&a, at), "{}", at);
                prop_assert_eq!(difference.contains(moment), inside(&a, at) && !inside(&b, at), "{}", at);
                prop_assert_eq!(clipped.contains(moment), inside(&a, at) && from <= at && at < until, "{}", at);
            }
            prop_assert_eq!(all.total_micros(), (0..60).filter(|&at| inside(&a, at)).count() as u64);
            prop_assert!(all.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
