//! Series of missed runs, of which one row may cover several hours.

/// Returns how many of `run_count` runs, evenly spaced from `first` to `last`, are in `from..until`.
pub(in crate::store) fn runs_within(first: i64, last: i64, run_count: i64, from: i64, until: i64) -> u64 {
    let intervals = i128::from(run_count.max(1) - 1);
    let duration_us = i128::from(last.saturating_sub(first).max(0));
    // Runs before `end` are those with first + i * duration_us / intervals < end.
    let runs_before = |end: i64| -> i128 {
        let distance = i128::from(end) - i128::from(first);
        if distance <= 0 {
            0
        } else if duration_us == 0 || intervals == 0 {
            intervals + 1
        } else {
            ((distance * intervals + duration_us - 1) / duration_us).min(intervals + 1)
        }
    };
    u64::try_from(runs_before(until) - runs_before(from)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_runs_count_in_the_hours_that_they_were_planned_in() {
        let minute = 60_000_000;
        let hour = 60 * minute;
        // 90 runs, a minute apart, from minute 30 on.
        let within = |from: i64| runs_within(30 * minute, 119 * minute, 90, from, from + hour);
        assert_eq!((within(0), within(hour), within(2 * hour)), (30, 60, 0));
        assert_eq!(runs_within(5, 5, 1, 5, 6), 1);
        assert_eq!(runs_within(5, 5, 1, 6, 9), 0);
    }

    proptest::proptest! {
        #[test]
        fn no_missed_run_is_lost_or_counted_twice(
            first in -1_000_000_000_i64..1_000_000_000, step in 1_i64..100_000_000, run_count in 1_i64..5000, cut in 0_i64..5_000_000_000
        ) {
            let last = first + step * (run_count - 1);
            let cut = first + cut;
            let before = runs_within(first, last, run_count, i64::MIN, cut);
            let after = runs_within(first, last, run_count, cut, i64::MAX);
            let want = (0..run_count).filter(|i| first + i * step < cut).count() as u64;
            proptest::prop_assert_eq!((before, before + after), (want, run_count.unsigned_abs()));
        }
    }
}
