//! A series of missed runs, and the rows that are left of it without the runs that turn out to be recorded.

use std::ops::RangeInclusive;

use super::missed_runs::MissedColumns;
use super::result_row::ResultRow;
use super::shared_text::SharedText;
use crate::domain::{Outcome, Phases};

/// A series of missed runs, without what only results of checks have.
pub(in crate::store) struct MissedSeries {
    /// Planned time of the first run, in microseconds.
    pub(in crate::store) planned_at: i64,
    pub(in crate::store) monitor_id: i64,
    pub(in crate::store) location_id: i64,
    pub(in crate::store) missed: MissedColumns,
    /// Time from the first planned run until the runs were recorded as missed, in microseconds.
    pub(in crate::store) start_delay_us: i64,
    pub(in crate::store) status: u16,
    pub(in crate::store) revision: i64,
    pub(in crate::store) type_and_name: SharedText,
    pub(in crate::store) details_json: Option<String>,
}

impl MissedSeries {
    /// Returns the series of `row`; `None` for the result of a check.
    pub(in crate::store) fn from_row(row: &ResultRow) -> Option<Self> {
        Some(Self {
            planned_at: row.planned_at,
            monitor_id: row.monitor_id,
            location_id: row.location_id,
            missed: row.missed?,
            start_delay_us: row.start_delay_us,
            status: row.status,
            revision: row.revision,
            type_and_name: row.type_and_name.clone(),
            details_json: row.details_json.clone(),
        })
    }

    /// Returns the planned times of the runs, from the first to the last, in microseconds.
    pub(in crate::store) fn planned_at_range(&self) -> RangeInclusive<i64> {
        self.planned_at..=self.missed.last_planned_at.max(self.planned_at)
    }

    /// Returns the rows that are left of it without the runs planned in `recorded`.
    pub(in crate::store) fn without(&self, recorded: &[RangeInclusive<i64>]) -> Vec<ResultRow> {
        let parts = self.missed.without(self.planned_at, recorded);
        parts.into_iter().map(|(planned_at, missed)| self.part(planned_at, missed)).collect()
    }

    fn part(&self, planned_at: i64, missed: MissedColumns) -> ResultRow {
        ResultRow {
            planned_at,
            monitor_id: self.monitor_id,
            location_id: self.location_id,
            outcome: Outcome::Missed,
            status: self.status,
            warning_status: None,
            start_delay_us: self.start_delay_us - (planned_at - self.planned_at),
            duration_us: 0,
            full_page_us: None,
            phases: Phases::default(),
            body_wire_bytes: None,
            body_bytes: None,
            address: None,
            revision: self.revision,
            last_attempt_number: 0,
            type_and_name: self.type_and_name.clone(),
            shared_facts: None,
            certificate_chain: None,
            missed: Some(missed),
            is_first_check: false,
            details_json: self.details_json.clone(),
            capture_chunks: Vec::new(),
        }
    }
}
