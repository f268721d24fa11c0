//! Changes of the counts of results by minute.

use std::collections::BTreeMap;

/// A minute in microseconds.
pub(in crate::store) const MINUTE_US: i64 = 60_000_000;

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

/// Returns the start of the minute that contains `time_us`.
pub(in crate::store) fn minute_start(time_us: i64) -> i64 {
    time_us.saturating_sub(time_us.rem_euclid(MINUTE_US))
}
