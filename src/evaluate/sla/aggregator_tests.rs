//! Tests with runs of checks in a short form.

use super::*;
use crate::domain::{LocationId, Outcome, Sample, Timestamp};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_seconds(60 * minute)
}

/// Counts `runs`, which are a minute apart and separated by spaces. Each letter is a check: `k` ok, `w` warning, `e`
/// error, `s` suppressed error, `u` unknown, `m` missed, `b` blackout, `.` none. Letters are locations from 1 on; a
/// check at location n takes n seconds.
fn aggregate_runs(
    runs: &str,
    scope: SlaScope,
    bucket_starts: &[i64],
    trailing_starts: &[i64],
) -> SlaAggregate {
    let bucket_starts = bucket_starts.iter().copied().map(at).collect();
    let trailing_starts: Vec<Timestamp> = trailing_starts.iter().copied().map(at).collect();
    let mut aggregator = SlaAggregator::new(scope, bucket_starts, at(1000), &trailing_starts);
    for (minute, run) in (0..).zip(runs.split(' ')) {
        for (location, letter) in (1_i64..).zip(run.chars()).filter(|(_, letter)| *letter != '.') {
            let outcome = match letter {
                'k' => Outcome::Ok,
                'w' => Outcome::Warning,
                'e' | 's' => Outcome::Error,
                'u' => Outcome::Unknown,
                'm' => Outcome::Missed,
                _ => Outcome::Blackout,
            };
            let total_us = location.unsigned_abs() * 1_000_000;
            aggregator.add(Sample {
                planned_at: at(minute),
                location_id: LocationId(location),
                outcome,
                duration_us: total_us,
                full_page_us: None,
                is_suppressed_by_dependency: letter == 's',
                covered_run_count: 1,
            });
        }
    }
    aggregator.finish()
}

fn scope_without_exclusions() -> SlaScope {
    SlaScope { included_ranges: TimeRanges::from_ranges(vec![(at(-1000), at(1000))]), ..SlaScope::default() }
}

#[test]
fn what_a_blackout_suppressed_counts_as_blackout_and_what_took_place_in_it_is_excluded() {
    let scope = SlaScope {
        included_ranges: TimeRanges::from_ranges(vec![(at(0), at(2)), (at(4), at(6))]),
        ranges_with_blackouts: TimeRanges::from_ranges(vec![(at(0), at(6))]),
        ..SlaScope::default()
    };
    // The last blackout is outside of the operating periods.
    let total = aggregate_runs("k k b e k k b", scope, &[0], &[]).total_stats;
    assert_eq!(total.checks_with(Outcome::Blackout), 1);
    assert_eq!((total.checks_with(Outcome::Ok), total.checks_with(Outcome::Error)), (4, 0));
    assert_eq!(total.excluded_checks, 2);
}

#[test]
fn a_run_is_up_when_any_location_passes_and_every_check_counts_for_availability() {
    for (runs, uptime, availability) in [
        ("kkk kkk", (2, 2), (6, 6)),
        ("kee eee", (1, 2), (1, 6)),
        ("wew", (1, 1), (2, 3)),
        // Inconclusive checks count for neither.
        ("umb uuu", (0, 0), (0, 0)),
        ("ue km b", (1, 2), (1, 2)),
        ("", (0, 0), (0, 0)),
    ] {
        let total = aggregate_runs(runs, scope_without_exclusions(), &[0], &[]).total_stats;
        assert_eq!((total.uptime_counts(), total.availability_counts()), (uptime, availability), "{runs}");
    }
}

#[test]
fn suppressed_errors_count_as_errors_and_are_counted_beside() {
    let total = aggregate_runs("ke ks ss e k", scope_without_exclusions(), &[0], &[]).total_stats;
    assert_eq!((total.checks_with(Outcome::Error), total.suppressed_checks), (5, 3));
    assert_eq!(total.uptime_counts(), (3, 5));
}

#[test]
fn the_response_time_is_the_mean_over_locations_and_not_over_checks() {
    // Location 1 takes 1 s and checks four times, location 3 takes 3 s and checks once; 2 never passes.
    let aggregate = aggregate_runs("kek ke k k", scope_without_exclusions(), &[0], &[]);
    assert_eq!(aggregate.total_stats.mean_response_us(), Some(2_000_000));
    assert_eq!(aggregate.stats_by_location[&LocationId(2)].mean_response_us(), None);
    assert_eq!(aggregate.stats_by_location[&LocationId(1)].uptime_counts(), (4, 4));
}

#[test]
fn only_checks_in_scope_count() {
    let mut scope = scope_without_exclusions();
    scope.included_ranges = scope.included_ranges.subtract(&TimeRanges::from_ranges(vec![(at(1), at(3))]));
    scope.excluded_by_location.insert(LocationId(2), TimeRanges::from_ranges(vec![(at(3), at(4))]));
    // Minutes:                 0  1  2  3  4
    let aggregate = aggregate_runs("kk ee ee ke ke", scope, &[0], &[]);
    assert_eq!(aggregate.total_stats.uptime_counts(), (3, 3));
    assert_eq!(aggregate.total_stats.availability_counts(), (4, 5));
    assert_eq!(aggregate.total_stats.excluded_checks, 5);
}

#[test]
fn buckets_and_trailing_periods_are_counted_separately() {
    let aggregate = aggregate_runs("k e k e e", scope_without_exclusions(), &[0, 2, 4, 9], &[0, 3, 8]);
    let up: Vec<_> = aggregate.bucket_stats.iter().map(SlaStats::uptime_counts).collect();
    assert_eq!(up, [(1, 2), (1, 2), (0, 1), (0, 0)]);
    let tails: Vec<_> = aggregate.trailing_stats.iter().map(SlaStats::uptime_counts).collect();
    assert_eq!(tails, [(2, 5), (0, 2), (0, 0)]);
    // Checks before the first bucket and after the end are ignored.
    let aggregate = aggregate_runs("k e", scope_without_exclusions(), &[1], &[]);
    assert_eq!(aggregate.total_stats.uptime_counts(), (0, 1));
}
