//! Spans of one trace, and their ids. Ids derive from the check, so that a result that is exported again after a
//! restart replaces its spans instead of doubling them.

use serde::Serialize;

use super::model::{KeyValue, UnixNanos};
use crate::domain::id::mix_hash;
use crate::domain::{CheckId, Failure, Timestamp};

/// Separates ids of traces from other numbers that derive from a check.
const TRACE_SEED: u64 = 0x0074_7261_6365;
/// Separates ids of spans likewise.
const SPAN_SEED: u64 = 0x7370_616e;

/// `SpanKind`: INTERNAL is 1, CLIENT is 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Internal = 1,
    Client = 3,
}

/// A span, as OTLP has it in JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    trace_id: String,
    #[serde(rename = "spanId")]
    id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    parent_span_id: String,
    name: String,
    kind: u8,
    start_time_unix_nano: UnixNanos,
    end_time_unix_nano: UnixNanos,
    attributes: Vec<KeyValue>,
    status: SpanStatus,
}

/// `Status`: code 2 is ERROR, 0 is UNSET.
#[derive(Clone, Debug, Default, Serialize)]
struct SpanStatus {
    code: u8,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

/// The parts of a span that differ.
pub(super) struct NewSpan<'a> {
    /// Span id of the parent; `None` for that of the check itself.
    pub(super) parent: Option<&'a str>,
    /// Its own id; `None` for one that derives from the check.
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) attributes: Vec<KeyValue>,
    /// Why it failed; `None` when it did not.
    pub(super) error: Option<String>,
}

impl NewSpan<'_> {
    /// Creates a span within the process that did not fail.
    pub(super) fn internal(name: impl Into<String>, start: Timestamp, end: Timestamp) -> Self {
        Self {
            parent: None,
            id: None,
            name: name.into(),
            kind: SpanKind::Internal,
            start,
            end,
            attributes: Vec::new(),
            error: None,
        }
    }

    /// Marks it as failed if there is a `failure`.
    pub(super) fn with_failure(mut self, failure: Option<&Failure>) -> Self {
        if let Some(failure) = failure {
            self.error = Some(failure.to_string());
            self.attributes.extend(super::check_attributes::failure_attributes(failure));
        }
        self
    }
}

/// Collects the spans of one check.
pub(super) struct SpanBuilder {
    check_id: CheckId,
    trace_id: String,
    spans: Vec<Span>,
}

impl SpanBuilder {
    /// Creates a builder for spans of the trace that the requests of the check had, or else of one of its own.
    pub(super) fn new(check_id: CheckId, trace_id: Option<u128>) -> Self {
        Self { check_id, trace_id: check_trace_id(check_id, trace_id), spans: Vec::new() }
    }

    /// Adds a span; returns its id. The first one is the check.
    pub(super) fn add(&mut self, new: NewSpan<'_>) -> String {
        let span_id = new.id.unwrap_or_else(|| nth_span_id(self.check_id, self.spans.len()));
        let error = new.error.map(|message| SpanStatus { code: 2, message });
        self.spans.push(Span {
            trace_id: self.trace_id.clone(),
            id: span_id.clone(),
            parent_span_id: new.parent.unwrap_or_default().to_owned(),
            name: new.name,
            kind: new.kind as u8,
            start_time_unix_nano: UnixNanos(new.start),
            end_time_unix_nano: UnixNanos(new.end.max(new.start)),
            attributes: new.attributes,
            status: error.unwrap_or_default(),
        });
        span_id
    }

    pub(super) fn trace_id(&self) -> &str {
        &self.trace_id
    }

    pub(super) fn into_spans(self) -> Vec<Span> {
        self.spans
    }
}

/// Returns the id of the trace of a check, as 32 hexadecimal digits: the one of its requests, if they had one.
pub(super) fn check_trace_id(check_id: CheckId, of_requests: Option<u128>) -> String {
    let derive = || {
        let half = |number| u128::from(mix_hash(check_id.0 ^ TRACE_SEED, number));
        (half(1) << 64) | half(2)
    };
    // An id of zeros is invalid (W3C Trace Context 3.2.2.3).
    format!("{:032x}", of_requests.unwrap_or_else(derive).max(1))
}

/// Returns the id of the span that is the check itself, as 16 hexadecimal digits.
pub(super) fn check_span_id(check_id: CheckId) -> String {
    nth_span_id(check_id, 0)
}

fn nth_span_id(check_id: CheckId, number: usize) -> String {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    format!("{:016x}", mix_hash(check_id.0 ^ SPAN_SEED, number).max(1))
}
