//! Runs of checks, written as letters, and their SLA statistics.

use super::*;
use crate::domain::{LocationId, Outcome, Sample, Timestamp};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_seconds(60 * minute)
}

/// Aggregates runs a minute apart. Each group of letters is a run, each letter a location from 1 on: `k` ok,
/// `w` warning, `e` error, `u` unknown, `m` missed, `b` blackout, `.` none. A check takes as many seconds as the id of
/// its location.
fn aggregate(runs: &str, scope: SlaScope, starts: &[i64], tails: &[i64]) -> SlaAggregate {
    let starts = starts.iter().copied().map(at).collect();
    let tails: Vec<Timestamp> = tails.iter().copied().map(at).collect();
    let mut aggregator = SlaAggregator::new(scope, starts, at(1000), &tails);
    for (minute, run) in (0..).zip(runs.split(' ')) {
        for (location, letter) in (1_i64..).zip(run.chars()).filter(|(_, letter)| *letter != '.') {
            let outcome = match letter {
                'k' => Outcome::Ok,
                'w' => Outcome::Warning,
                'e' => Outcome::Error,
                'u' => Outcome::Unknown,
                'm' => Outcome::Missed,
                _ => Outcome::Blackout,
            };
            let total_us = location.unsigned_abs() * 1_000_000;
            aggregator.add(Sample {
                planned_at: at(minute),
                location: LocationId(location),
                outcome,
                total_us,
                full_page_us: None,
                slots: 1,
            });
        }
    }
    aggregator.finish()
}

fn always() -> SlaScope {
    SlaScope { included: TimeRanges::from_ranges(vec![(at(-1000), at(1000))]), ..SlaScope::default() }
}

#[test]
fn a_run_is_up_when_any_location_passes_and_every_check_counts_for_availability() {
    for (runs, uptime, availability) in [
        ("kkk kkk", (2, 2), (6, 6)),
        ("kee eee", (1, 2), (1, 6)),
        ("wew", (1, 1), (2, 3)),
        // Outcomes without a statement on the target count for neither.
        ("umb uuu", (0, 0), (0, 0)),
        ("ue km b", (1, 2), (1, 2)),
        ("", (0, 0), (0, 0)),
    ] {
        let total = aggregate(runs, always(), &[0], &[]).total;
        assert_eq!((total.uptime(), total.availability()), (uptime, availability), "{runs}");
    }
}

#[test]
fn the_response_time_is_the_mean_over_locations_and_not_over_checks() {
    // Location 1 takes 1 s and checks four times, location 3 takes 3 s and checks once; 2 never passes.
    let aggregate = aggregate("kek ke k k", always(), &[0], &[]);
    assert_eq!(aggregate.total.mean_response_us(), Some(2_000_000));
    assert_eq!(aggregate.locations[&LocationId(2)].mean_response_us(), None);
    assert_eq!(aggregate.locations[&LocationId(1)].uptime(), (4, 4));
}

#[test]
fn only_the_scope_of_the_sla_counts() {
    let mut scope = always();
    scope.included = scope.included.subtract(&TimeRanges::from_ranges(vec![(at(1), at(3))]));
    scope.excluded_by_location.insert(LocationId(2), TimeRanges::from_ranges(vec![(at(3), at(4))]));
    // Minutes:                 0  1  2  3  4
    let aggregate = aggregate("kk ee ee ke ke", scope, &[0], &[]);
    assert_eq!(aggregate.total.uptime(), (3, 3));
    assert_eq!(aggregate.total.availability(), (4, 5));
    assert_eq!(aggregate.total.excluded, 5);
}

#[test]
fn buckets_and_trailing_ranges_are_counted_separately() {
    let aggregate = aggregate("k e k e e", always(), &[0, 2, 4, 9], &[0, 3, 8]);
    let up: Vec<_> = aggregate.buckets.iter().map(SlaStats::uptime).collect();
    assert_eq!(up, [(1, 2), (1, 2), (0, 1), (0, 0)]);
    let tails: Vec<_> = aggregate.trailing.iter().map(SlaStats::uptime).collect();
    assert_eq!(tails, [(2, 5), (0, 2), (0, 0)]);
    // Runs before the first bucket and after the end are ignored.
    let aggregate = self::aggregate("k e", always(), &[1], &[]);
    assert_eq!(aggregate.total.uptime(), (0, 1));
}
