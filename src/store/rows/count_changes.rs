//! Counts of results by minute: their changes, and how they are read.

use std::collections::BTreeMap;

use crate::store::contract::ResultFilter;

/// A minute in microseconds.
const MINUTE_US: i64 = 60_000_000;

/// Changes of counts in one transaction, by minute, account, location and outcome.
#[derive(Default)]
pub(in crate::store) struct CountChanges(BTreeMap<(i64, i64, i64, i64), i64>);

impl CountChanges {
    /// Adds `row_delta` rows of this kind; a negative number removes rows. `outcome` is the code.
    pub(in crate::store) fn add(
        &mut self,
        planned_at: i64,
        customer: i64,
        location: i64,
        outcome: i64,
        row_delta: i64,
    ) {
        *self.0.entry((minute_start(planned_at), customer, location, outcome)).or_default() += row_delta;
    }

    /// Returns minute, account, location, outcome and the change of the number of rows, ordered by the first four.
    pub(in crate::store) fn into_rows(self) -> impl Iterator<Item = [i64; 5]> {
        self.0
            .into_iter()
            .filter(|(_, rows)| *rows != 0)
            .map(|((minute, customer, location, outcome), rows)| [minute, customer, location, outcome, rows])
    }
}

/// What the number of matching results is the sum of.
pub(in crate::store) struct CountParts {
    /// Start and end of the whole minutes that the counts have.
    pub(in crate::store) minutes: Option<(i64, i64)>,
    /// Planned times whose rows are counted; `None` for all rows that match.
    pub(in crate::store) row_ranges: Vec<Option<(i64, i64)>>,
}

impl CountParts {
    /// Splits the time of `filter`: whole minutes, and the remaining time at both ends. Results of single monitors are
    /// few enough to be counted by index.
    pub(in crate::store) fn of(filter: &ResultFilter) -> Self {
        let all_rows = Self { minutes: None, row_ranges: vec![None] };
        if !filter.monitors.is_empty() {
            return all_rows;
        }
        let first_whole_minute =
            filter.from.map(|from| minute_start(from.as_micros().saturating_add(MINUTE_US - 1)));
        let end_of_whole_minutes = filter.until.map(|until| minute_start(until.as_micros()));
        let (first, end) = (first_whole_minute.unwrap_or(i64::MIN), end_of_whole_minutes.unwrap_or(i64::MAX));
        if first >= end {
            return all_rows;
        }
        let before = first_whole_minute.map(|first| Some((i64::MIN, first)));
        let after = end_of_whole_minutes.map(|end| Some((end, i64::MAX)));
        Self { minutes: Some((first, end)), row_ranges: before.into_iter().chain(after).collect() }
    }
}

/// Returns the start of the minute that contains `time_us`.
fn minute_start(time_us: i64) -> i64 {
    time_us.saturating_sub(time_us.rem_euclid(MINUTE_US))
}
