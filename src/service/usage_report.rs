//! `GET /usage`: how many checks an account ran, by plan, type, location or monitor.

use serde::{Deserialize, Serialize};

use super::caller::{Caller, ServiceError};
use super::monitor_reader::MonitorReader;
use crate::catalog::AccountCache;
use crate::domain::{LocationId, MonitorId, Permission, Timestamp, UsageGrouping};
use crate::store::UsageQuery;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// Checks of one plan, type, location or monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// Code of the plan, type, or id of the location or monitor.
    pub key: String,
    /// Its name; that of a location or monitor is empty when it no longer exists.
    pub name: String,
    /// Checks that ran.
    pub checks: u64,
}

/// How many checks an account ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageReport {
    /// `plan`, `type`, `location` or `monitor`.
    pub by: String,
    /// Start of the first day, UTC.
    pub from: Timestamp,
    /// End of the last day, UTC.
    pub thru: Timestamp,
    /// Checks over all rows.
    pub total: u64,
    /// The rows.
    pub rows: Vec<UsageRow>,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageRequest {
    /// A time in its first day; by default the start of the month.
    pub from: Option<Timestamp>,
    /// A time until which its last day is counted; by default now.
    pub until: Option<Timestamp>,
    /// What checks are counted by.
    pub by: UsageGrouping,
}

/// Computes the report of the caller's account. Days are those of UTC, counted whole.
///
/// # Errors
/// [`ServiceError::Forbidden`], [`ServiceError::Invalid`] for an empty range; errors of the store.
pub async fn usage_report(
    caller: &Caller,
    request: UsageRequest,
    (monitor_reader, account_cache): (&MonitorReader, &AccountCache),
    now: Timestamp,
) -> Result<UsageReport, ServiceError> {
    caller.require_permission(Permission::ViewReports)?;
    let until = request.until.unwrap_or(now);
    let from = request.from.unwrap_or_else(|| month_start(until));
    if from >= until {
        return Err(ServiceError::Invalid(vec![ValidationError::new(
            ValidationErrorKind::Conflict,
            "from",
            Position::default(),
            "`from` must be before `thru`",
        )]));
    }
    let (from, until) =
        (day_start(from), day_start(Timestamp::from_micros(until.as_micros().saturating_add(DAY_US - 1))));
    let query = UsageQuery { customer: caller.customer, from, until, by: request.by };
    let counts = monitor_reader.usage_store().usage(query).await?;
    let account = account_cache.account(caller.customer).await?;
    let display_name = |key: &str| match request.by {
        UsageGrouping::Plan | UsageGrouping::Type => key.to_owned(),
        UsageGrouping::Location => {
            let location = key.parse().ok().and_then(|id| account.locations.get(&LocationId(id).0));
            location.map(|location| location.name.clone()).unwrap_or_default()
        }
        UsageGrouping::Monitor => {
            let monitor = key.parse().ok().and_then(|id| monitor_reader.monitor(MonitorId(id)));
            monitor.map(|monitor| monitor.name().to_owned()).unwrap_or_default()
        }
    };
    let rows: Vec<UsageRow> =
        counts.into_iter().map(|(key, checks)| UsageRow { name: display_name(&key), key, checks }).collect();
    let total = rows.iter().map(|row| row.checks).sum();
    Ok(UsageReport { by: request.by.name().to_owned(), from, thru: until, total, rows })
}

fn day_start(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.as_micros().saturating_sub(time.as_micros().rem_euclid(DAY_US)))
}

fn month_start(time: Timestamp) -> Timestamp {
    let date = time.to_string();
    // `2026-11-20T…`
    let start = date.get(..8).map(|month| format!("{month}01T00:00:00Z"));
    start.and_then(|start| Timestamp::parse(&start)).unwrap_or(time)
}

impl UsageReport {
    /// Returns it as CSV (RFC 4180), with the total as the last line.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let head = format!("{},name,checks\r\n", self.by);
        let rows = self.rows.iter().map(|UsageRow { key, name, checks }| {
            format!("{},{},{checks}\r\n", csv_text(key), csv_text(name))
        });
        let total = format!("total,,{}\r\n", self.total);
        std::iter::once(head).chain(rows).chain([total]).collect()
    }
}

/// Returns `text` as a field of CSV. One that spreadsheets take for a formula gets an apostrophe before it.
pub(super) fn csv_text(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_for_csv_and_formulas_are_not_run() {
        for (text, field) in [
            ("basic", "basic"),
            ("a, \"b\"", "\"a, \"\"b\"\"\""),
            ("=1+2", "'=1+2"),
            ("@x,y", "\"'@x,y\""),
            ("", ""),
        ] {
            assert_eq!(csv_text(text), field);
        }
    }

    #[test]
    fn a_month_starts_on_its_first_day() {
        let time = |text| Timestamp::parse(text).unwrap();
        assert_eq!(month_start(time("2026-11-20T12:00:00Z")), time("2026-11-01T00:00:00Z"));
        assert_eq!(day_start(time("2026-11-20T12:00:00Z")), time("2026-11-20T00:00:00Z"));
    }
}
