//! Missed runs as a row: a series of evenly spaced runs, of which some may turn out to have happened.

use std::ops::RangeInclusive;

/// Columns of missed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct MissedColumns {
    /// Index of the reason in [`MissedReason::ALL`](crate::domain::MissedReason::ALL).
    pub(in crate::store) reason_code: usize,
    pub(in crate::store) run_count: u32,
    /// Planned time of the last of these runs, in microseconds.
    pub(in crate::store) last_planned_at: i64,
}

impl MissedColumns {
    /// Returns what is left of the series that begins at `first`, without its runs planned in `recorded`: series with
    /// the planned times of their first runs.
    pub(in crate::store) fn without(self, first: i64, recorded: &[RangeInclusive<i64>]) -> Vec<(i64, Self)> {
        let mut recorded_runs: Vec<_> =
            recorded.iter().filter_map(|times| self.runs_in(first, times)).collect();
        recorded_runs.sort_unstable_by_key(|runs| *runs.start());
        let (mut left, mut next) = (Vec::new(), 0);
        for runs in recorded_runs {
            left.extend(self.part(first, next, *runs.start()));
            next = next.max(runs.end() + 1);
        }
        left.extend(self.part(first, next, i64::from(self.run_count)));
        left
    }

    /// Returns the numbers of the runs planned in `times`; `None` without any.
    fn runs_in(self, first: i64, times: &RangeInclusive<i64>) -> Option<RangeInclusive<i64>> {
        let from = (*times.start()).max(first);
        let until = (*times.end()).min(self.last_planned_at.max(first));
        (from <= until).then(|| self.nearest_run(first, from)..=self.nearest_run(first, until))
    }

    /// Returns the number of the run whose planned time is nearest to `planned_at`, which is within the series.
    fn nearest_run(self, first: i64, planned_at: i64) -> i64 {
        let duration = i128::from(self.last_planned_at.saturating_sub(first).max(1));
        let distance = i128::from(planned_at.saturating_sub(first));
        let number = (distance * i128::from(self.intervals()) + duration / 2) / duration;
        i64::try_from(number).unwrap_or(0).clamp(0, self.intervals())
    }

    /// Returns the runs from number `from` up to and without `until`, if there are any.
    fn part(self, first: i64, from: i64, until: i64) -> Option<(i64, Self)> {
        let run_count = u32::try_from(until - from).ok().filter(|run_count| *run_count > 0)?;
        let part = Self { run_count, last_planned_at: self.planned_at(first, until - 1), ..self };
        Some((self.planned_at(first, from), part))
    }

    fn planned_at(self, first: i64, number: i64) -> i64 {
        let duration = i128::from(self.last_planned_at.saturating_sub(first).max(0));
        let distance = duration * i128::from(number) / i128::from(self.intervals().max(1));
        first.saturating_add(i64::try_from(distance).unwrap_or(i64::MAX))
    }

    fn intervals(self) -> i64 {
        i64::from(self.run_count.max(1)) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(first: i64, step: i64, run_count: u32) -> (i64, MissedColumns) {
        let last_planned_at = first + step * (i64::from(run_count) - 1);
        (first, MissedColumns { reason_code: 3, run_count, last_planned_at })
    }

    fn without(whole: (i64, MissedColumns), recorded: &[i64]) -> Vec<(i64, MissedColumns)> {
        let recorded: Vec<_> = recorded.iter().map(|time| *time..=*time).collect();
        whole.1.without(whole.0, &recorded)
    }

    #[test]
    fn a_recorded_run_splits_the_series() {
        let whole = series(60, 60, 10);
        assert_eq!(without(whole, &[]), [whole]);
        assert_eq!(without(whole, &[60]), [series(120, 60, 9)]);
        assert_eq!(without(whole, &[240]), [series(60, 60, 3), series(300, 60, 6)]);
        assert_eq!(without(whole, &[600]), [series(60, 60, 9)]);
        assert_eq!(without(whole, &[300, 240, 240, 600]), [series(60, 60, 3), series(360, 60, 4)]);
        assert_eq!(without(whole, &[0, 661]), [whole], "planned before and after");
    }

    #[test]
    fn nothing_is_left_of_a_series_that_is_recorded() {
        assert_eq!(without(series(60, 60, 1), &[60]), []);
        let (first, columns) = series(60, 60, 4);
        assert_eq!(columns.without(first, &[0..=60, 120..=900]), []);
        assert_eq!(columns.without(first, &[100..=200]), [series(60, 60, 1), series(240, 60, 1)]);
    }

    proptest::proptest! {
        #[test]
        fn every_run_is_left_or_recorded(
            first in -1_000_000_000_i64..1_000_000_000, step in 1_i64..100_000_000, run_count in 1_u32..300,
            recorded in proptest::collection::btree_set(0_i64..300, 0..40),
        ) {
            let whole = series(first, step, run_count);
            let times: Vec<_> = recorded.iter().map(|number| first + number * step).collect();
            let left = without(whole, &times);
            let mut runs: Vec<i64> = Vec::new();
            for (from, part) in &left {
                runs.extend((0..i64::from(part.run_count)).map(|number| from + number * step));
                proptest::prop_assert_eq!(runs.last().copied(), Some(part.last_planned_at));
            }
            let expected: Vec<i64> = (0..i64::from(run_count))
                .filter(|number| !recorded.contains(number)).map(|number| first + number * step).collect();
            proptest::prop_assert_eq!(runs, expected);
        }
    }
}
