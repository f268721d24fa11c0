//! The statistics of one rollup: counts by outcome, sum and sketch of durations, and [`RollupSums`].

use crate::domain::{DurationSketch, LocationId, MonitorId, Outcome, Rollup, Timestamp};
use crate::store::rows::decode::{DecodeError, RowLocator};

use super::sums::RollupSums;
use super::sums_codec;

/// Statistics of one monitor at one location.
#[derive(Default)]
pub(in crate::store) struct RollupStats {
    /// Numbers of runs, by the code of the outcome.
    pub(in crate::store) runs_by_outcome: [u64; 6],
    /// Of the runs that passed, as the sketch and the sums of phases are.
    pub(in crate::store) duration_sum_us: u64,
    durations: DurationSketch,
    /// Sums of phases, user experience and content views.
    pub(in crate::store) sums: RollupSums,
}

impl RollupStats {
    /// Adds `run_count` runs with `outcome` that took `duration_us` microseconds.
    pub(in crate::store) fn add(&mut self, outcome: Outcome, run_count: u64, duration_us: u64) {
        self.runs_by_outcome[usize::from(outcome.code())] += run_count;
        if has_passed(outcome) {
            self.duration_sum_us = self.duration_sum_us.saturating_add(duration_us);
            self.durations.add(duration_us);
        }
    }

    /// Adds the statistics of a shorter span.
    pub(in crate::store) fn merge(&mut self, other: &Self) {
        for (sum, added) in self.runs_by_outcome.iter_mut().zip(other.runs_by_outcome) {
            *sum += added;
        }
        self.duration_sum_us = self.duration_sum_us.saturating_add(other.duration_sum_us);
        self.durations.merge(&other.durations);
        self.sums.merge(&other.sums);
    }

    /// Whether there are no runs.
    pub(in crate::store) fn is_empty(&self) -> bool {
        self.runs_by_outcome == [0; 6]
    }

    /// Encodes the sketch of durations; `None` without durations.
    pub(in crate::store) fn to_sketch_bytes(&self) -> Option<Vec<u8>> {
        self.durations.to_bytes()
    }

    /// Encodes the sums; `None` without sums.
    pub(in crate::store) fn to_sums_bytes(&self) -> Option<Vec<u8>> {
        sums_codec::encode(&self.sums)
    }

    /// Decodes the stored columns of the row at `locator`.
    pub(in crate::store) fn from_columns(
        locator: RowLocator<'_>,
        runs_by_outcome: [u64; 6],
        duration_sum_us: u64,
        sketch: Option<&[u8]>,
        sums: Option<&[u8]>,
    ) -> Result<Self, DecodeError> {
        let durations = match sketch {
            Some(bytes) => {
                DurationSketch::from_bytes(bytes).map_err(|error| locator.decode_error("sketch", error))?
            }
            None => DurationSketch::default(),
        };
        let sums = match sums {
            Some(bytes) => sums_codec::decode(bytes).map_err(|error| locator.decode_error("parts", error))?,
            None => RollupSums::default(),
        };
        Ok(Self { runs_by_outcome, duration_sum_us, durations, sums })
    }

    pub(in crate::store) fn to_rollup(
        &self,
        monitor_id: MonitorId,
        location_id: LocationId,
        start: Timestamp,
    ) -> Rollup {
        let timed_runs = self.runs_by_outcome[usize::from(Outcome::Ok.code())]
            + self.runs_by_outcome[usize::from(Outcome::Warning.code())];
        Rollup {
            monitor_id,
            location_id,
            start,
            runs_by_outcome: self.runs_by_outcome,
            mean_duration_us: self.duration_sum_us.checked_div(timed_runs),
            duration_percentiles_us: self.durations.percentiles_us(),
            mean_phases: self.sums.mean_phases(),
            user_experience: self.sums.user_experience(),
            views: self.sums.view_figures(),
        }
    }
}

/// Whether the duration and the phases of a run with this outcome count.
pub(in crate::store) const fn has_passed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Ok | Outcome::Warning)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::domain::SKETCH_RELATIVE_ERROR;

    use super::*;

    const PERCENTILES: [f64; 5] = [0.50, 0.75, 0.90, 0.95, 0.99];

    fn exact_percentile(sorted: &[u64], quantile: f64) -> u64 {
        let rank = quantile * (sorted.len() as f64 - 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        sorted[rank as usize]
    }

    proptest! {
        #[test]
        fn percentiles_stay_within_the_error_of_the_sketch_also_when_merged(
            parts in prop::collection::vec(prop::collection::vec(1_u64..600_000_000, 1..80), 1..24),
        ) {
            let mut day = RollupStats::default();
            for part in &parts {
                let mut hour = RollupStats::default();
                for &total in part {
                    hour.add(Outcome::Ok, 1, total);
                }
                let bytes = hour.to_sketch_bytes().unwrap();
                hour.durations = DurationSketch::from_bytes(&bytes).unwrap();
                day.merge(&hour);
            }
            let mut all: Vec<u64> = parts.concat();
            all.sort_unstable();
            let rollup = day.to_rollup(MonitorId(1), LocationId(1), Timestamp::default());
            prop_assert_eq!(rollup.mean_duration_us, Some(all.iter().sum::<u64>() / all.len() as u64));
            for (found, quantile) in rollup.duration_percentiles_us.unwrap().into_iter().zip(PERCENTILES) {
                let want = exact_percentile(&all, quantile) as f64;
                // Half a microsecond more, for rounding.
                prop_assert!((found as f64 - want).abs() <= want * SKETCH_RELATIVE_ERROR * 1.0001 + 0.5,
                    "p{} is {found}, exactly {want}", quantile * 100.0);
            }
        }
    }

    #[test]
    fn errors_count_and_leave_durations_alone() {
        let mut stats = RollupStats::default();
        stats.add(Outcome::Error, 1, 30_000_000);
        stats.add(Outcome::Missed, 7, 0);
        let rollup = stats.to_rollup(MonitorId(1), LocationId(1), Timestamp::default());
        assert_eq!(rollup.runs_by_outcome, [0, 0, 1, 0, 7, 0]);
        assert_eq!((rollup.mean_duration_us, rollup.duration_percentiles_us), (None, None));
    }
}
