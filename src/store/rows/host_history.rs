//! What of the reports of hosts is kept, and how the rows of a span are merged into one of a longer span.
//!
//! A host takes at most 300 kB a day on disk. Hosts with many series keep every second report or fewer, and have longer
//! blocks than five minutes, so that the sum stays within these budgets.

use std::collections::BTreeMap;

use crate::domain::{HostHistoryRow, HostReport, HostSpan, SeriesStatistics, Timestamp};

/// Bytes of a row beside its values, with the space that a page of the database leaves free.
const ROW_OVERHEAD_BYTES: u64 = 40;
const DAY_S: u64 = 24 * 3600;
/// Most bytes of the reports of a day.
const REPORT_BUDGET_BYTES: u64 = 130_000;
/// Most bytes of the blocks of a day.
const BLOCK_BUDGET_BYTES: u64 = 80_000;
/// Lengths of blocks, in minutes. The last one fits the budget with the most series that a report has.
const BLOCK_MINUTES: [u64; 6] = [5, 10, 15, 20, 30, 60];
/// Most sets of series that a host has. What it reports in further sets is judged, but has no history.
pub(in crate::store) const MAX_LAYOUTS: i64 = 100;

/// Rollups that one transaction writes.
pub(in crate::store) const ROLLUP_CHUNK: i64 = 200;
/// How long after its end a span is rolled up, in microseconds: reports that are on their way still count.
pub(in crate::store) const ROLLUP_DELAY_US: i64 = 60_000_000;

/// Returns the stored code of a span.
pub(in crate::store) const fn span_code(span: HostSpan) -> i16 {
    match span {
        HostSpan::Report => 0,
        HostSpan::Block => 1,
        HostSpan::Hour => 2,
    }
}

/// Whether the report is one of those that the history keeps.
pub(in crate::store) fn keeps_report(report: &HostReport) -> bool {
    let row_bytes = 2 * report.values.len() as u64 + ROW_OVERHEAD_BYTES;
    let reports_per_day = DAY_S / u64::from(report.interval_s.max(1));
    let every = (row_bytes * reports_per_day).div_ceil(REPORT_BUDGET_BYTES).max(1);
    report.sequence.is_multiple_of(every)
}

/// Returns the start and the length of the block that the report belongs to, in microseconds.
pub(in crate::store) fn block_of(report: &HostReport) -> (i64, i64) {
    let row_bytes = 6 * report.values.len() as u64 + ROW_OVERHEAD_BYTES;
    let fits = |minutes: &&u64| row_bytes * (24 * 60 / **minutes) <= BLOCK_BUDGET_BYTES;
    let minutes = BLOCK_MINUTES.iter().find(fits).copied().unwrap_or(60);
    let length = i64::try_from(minutes * 60_000_000).unwrap_or(HOUR_US);
    (floor_to(report.measured_at.as_micros(), length), length)
}

/// Length of an hour, in microseconds.
pub(in crate::store) const HOUR_US: i64 = 3_600_000_000;

/// Returns the greatest multiple of `length` that is not after `time`.
pub(in crate::store) const fn floor_to(time: i64, length: i64) -> i64 {
    time - time.rem_euclid(length)
}

/// Returns the time before which rows of `span` are removed at `now`, in microseconds.
pub(in crate::store) fn expired_before(span: HostSpan, now: Timestamp) -> i64 {
    (now - span.retention()).as_micros()
}

/// Merges the rows of a span into the statistics of a longer one. Every row has the same weight.
pub(in crate::store) fn merge_rows(rows: &[HostHistoryRow]) -> Vec<SeriesStatistics> {
    let mut merged: BTreeMap<&str, (f64, f64, f64, f64)> = BTreeMap::new();
    for value in rows.iter().flat_map(|row| &row.values) {
        let entry = merged.entry(&value.series).or_insert((f64::INFINITY, 0.0, f64::NEG_INFINITY, 0.0));
        *entry = (entry.0.min(value.min), entry.1 + value.mean, entry.2.max(value.max), entry.3 + 1.0);
    }
    merged
        .into_iter()
        .map(|(series, (min, sum, max, count))| SeriesStatistics {
            series: series.to_owned(),
            min,
            mean: sum / count,
            max,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{HostId, MAX_REPORT_SERIES, SeriesValue};

    fn report(series: usize, interval_s: u32) -> HostReport {
        let at = Timestamp::from_seconds(1_800_000_123);
        let name = |index: usize| SeriesValue { series: format!("load{index}"), value: 1.0 };
        HostReport {
            host_id: HostId(1),
            sequence: 0,
            measured_at: at,
            received_at: at,
            agent_version: String::new(),
            system: String::new(),
            values: (0..series).map(name).collect(),
            interval_s,
        }
    }

    #[test]
    fn no_host_takes_more_than_its_budget() {
        for series in [1, 22, 45, 60, 100, 200, MAX_REPORT_SERIES] {
            for interval_s in [10, 60, 300] {
                let mut report = report(series, interval_s);
                let mut kept = 0;
                let reports_per_day = DAY_S / u64::from(interval_s);
                for sequence in 0..reports_per_day {
                    report.sequence = sequence;
                    kept += u64::from(keeps_report(&report));
                }
                let bytes = kept * (2 * series as u64 + ROW_OVERHEAD_BYTES);
                assert!(bytes <= REPORT_BUDGET_BYTES + 1000, "{series} series, {interval_s} s: {bytes}");
                let blocks = DAY_S * 1_000_000 / block_of(&report).1.unsigned_abs();
                let bytes = blocks * (6 * series as u64 + ROW_OVERHEAD_BYTES);
                assert!(bytes <= BLOCK_BUDGET_BYTES, "{series} series: {bytes} bytes of blocks");
            }
        }
    }

    #[test]
    fn a_usual_host_keeps_every_report_and_blocks_of_five_minutes() {
        let report = report(24, 60);
        assert!((0..10).all(|sequence| keeps_report(&HostReport { sequence, ..report.clone() })));
        let (start, length) = block_of(&report);
        assert_eq!(length, 300_000_000);
        assert_eq!(start, 1_800_000_000_000_000);
    }

    #[test]
    fn merged_rows_have_the_extremes_and_the_mean() {
        let row = |min, mean, max| HostHistoryRow {
            start: Timestamp::from_seconds(0),
            values: vec![SeriesStatistics { series: "a".to_owned(), min, mean, max }],
        };
        let merged = merge_rows(&[row(1.0, 2.0, 3.0), row(0.5, 4.0, 9.0)]);
        assert_eq!(merged, [SeriesStatistics { series: "a".to_owned(), min: 0.5, mean: 3.0, max: 9.0 }]);
    }
}
