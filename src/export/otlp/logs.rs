//! A log record for each check that failed.

use serde::Serialize;

use super::check::ExportedCheck;
use super::check_attributes::failed_check_attributes;
use super::model::{AnyValue, KeyValue, Resource, SCOPE, Scope, UnixNanos};
use super::span_builder::{check_span_id, check_trace_id};
use crate::domain::{Outcome, Timestamp};

/// The body of a request with log records.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogsBody<'a> {
    resource_logs: [ResourceLogs<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'a> {
    resource: &'a Resource,
    scope_logs: [ScopeLogs; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs {
    scope: Scope,
    log_records: Vec<LogRecord>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord {
    time_unix_nano: UnixNanos,
    observed_time_unix_nano: UnixNanos,
    severity_number: u8,
    severity_text: &'static str,
    body: AnyValue,
    attributes: Vec<KeyValue>,
    trace_id: String,
    span_id: String,
    event_name: &'static str,
}

impl<'a> LogsBody<'a> {
    /// Creates the body of those of `checks` that failed; returns it with its number of log records.
    pub(super) fn new(resource: &'a Resource, checks: &[ExportedCheck], now: Timestamp) -> (Self, usize) {
        let log_records: Vec<_> = checks.iter().filter_map(|check| log_record(check, now)).collect();
        let records = log_records.len();
        let scope_logs = [ScopeLogs { scope: SCOPE, log_records }];
        (Self { resource_logs: [ResourceLogs { resource, scope_logs }] }, records)
    }
}

fn log_record(check: &ExportedCheck, now: Timestamp) -> Option<LogRecord> {
    let failed = check.failed.as_ref()?;
    // `SeverityNumber` of the data model of logs: 17 is ERROR, 13 is WARN. Unknown implies nothing about the target.
    let (severity_number, severity_text) =
        if check.outcome == Outcome::Error { (17, "ERROR") } else { (13, "WARN") };
    Some(LogRecord {
        time_unix_nano: UnixNanos(check.ended_at),
        observed_time_unix_nano: UnixNanos(now),
        severity_number,
        severity_text,
        body: failed.reason.as_str().into(),
        attributes: failed_check_attributes(check, failed),
        trace_id: check_trace_id(check.check_id, failed.trace_id),
        span_id: check_span_id(check.check_id),
        event_name: "vigie.check.failed",
    })
}
