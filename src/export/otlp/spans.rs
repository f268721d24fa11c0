//! The spans of each check that failed: the check, its attempts, and in those their phases. The last attempt, of which
//! the result has the details, also shows its steps and HTTP exchanges.

use std::time::Duration;

use serde::Serialize;

use super::check::{ExportedCheck, FailedCheck, TracedExchange, TracedStep};
use super::check_attributes::{failed_check_attributes, failure_attributes, peer_attributes};
use super::model::{KeyValue, Resource, SCOPE, Scope};
use super::span_builder::{NewSpan, Span, SpanBuilder, SpanKind};
use super::timeline::{PhaseTime, phase_times};
use crate::domain::{Attempt, Failure, Phase, Phases, Timestamp};

/// The body of a request with spans.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TracesBody<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: &'a Resource,
    scope_spans: [ScopeSpans; 1],
}

#[derive(Serialize)]
struct ScopeSpans {
    scope: Scope,
    spans: Vec<Span>,
}

impl<'a> TracesBody<'a> {
    /// Creates the body of those of `checks` that failed; returns it with its number of spans.
    pub(super) fn new(resource: &'a Resource, checks: &[ExportedCheck]) -> (Self, usize) {
        let spans: Vec<_> = checks.iter().flat_map(spans_of).collect();
        let count = spans.len();
        (
            Self {
                resource_spans: [ResourceSpans {
                    resource,
                    scope_spans: [ScopeSpans { scope: SCOPE, spans }],
                }],
            },
            count,
        )
    }
}

fn spans_of(check: &ExportedCheck) -> Vec<Span> {
    let Some(failed) = &check.failed else { return Vec::new() };
    let mut builder = SpanBuilder::new(check.check_id, failed.trace_id);
    let root = NewSpan {
        attributes: failed_check_attributes(check, failed),
        error: Some(failed.reason.clone()),
        ..NewSpan::internal(format!("check {}", check.monitor_type.name()), check.started_at, check.ended_at)
    };
    let root_id = builder.add(root);
    for (index, attempt) in failed.attempts.iter().enumerate() {
        let end = attempt.started_at + Duration::from_micros(attempt.duration_us);
        let span = NewSpan {
            parent: Some(&root_id),
            attributes: vec![KeyValue::new("vigie.attempt.number", i64::from(attempt.number))],
            ..NewSpan::internal("attempt", attempt.started_at, end)
        };
        let attempt_id = builder.add(span.with_failure(attempt.failure.as_ref()));
        let is_last = index + 1 == failed.attempts.len();
        AttemptSpans { builder: &mut builder, attempt, attempt_id, end }.add(failed, is_last);
    }
    builder.into_spans()
}

/// Adds what stands below an attempt.
struct AttemptSpans<'a> {
    builder: &'a mut SpanBuilder,
    attempt: &'a Attempt,
    attempt_id: String,
    end: Timestamp,
}

impl AttemptSpans<'_> {
    fn add(mut self, failed: &FailedCheck, is_last: bool) {
        let attempt_id = self.attempt_id.clone();
        let failure = self.attempt.failure.as_ref();
        if !is_last || failed.steps.is_empty() && failed.exchanges.is_empty() {
            self.add_phases(&attempt_id, &self.attempt.phases, (self.attempt.started_at, self.end), failure);
        } else if failed.steps.is_empty() {
            self.add_exchanges(&attempt_id, &failed.exchanges);
            self.add_phases_without_exchange(&attempt_id, &failed.exchanges);
        } else {
            for step in &failed.steps {
                self.add_step(step);
            }
        }
    }

    fn add_step(&mut self, step: &TracedStep) {
        let (start, end) = self.times(step.start_offset, step.duration);
        let attempt_id = self.attempt_id.clone();
        let span = NewSpan {
            parent: Some(&attempt_id),
            attributes: vec![
                KeyValue::new("vigie.step.number", i64::from(step.number)),
                KeyValue::new("vigie.step.name", step.name.as_str()),
            ],
            ..NewSpan::internal("step", start, end)
        };
        let step_id = self.builder.add(span.with_failure(step.failure.as_ref()));
        if step.exchanges.is_empty() {
            self.add_phases(&step_id, &step.phases, (start, end), step.failure.as_ref());
        } else {
            self.add_exchanges(&step_id, &step.exchanges);
        }
    }

    fn add_exchanges(&mut self, parent: &str, exchanges: &[TracedExchange]) {
        for exchange in exchanges {
            let (start, end) = self.times(exchange.start_offset, total(&exchange.phases));
            let span = NewSpan {
                parent: Some(parent),
                id: exchange.traceparent.as_deref().and_then(|sent| self.span_id_of(sent)),
                kind: SpanKind::Client,
                attributes: exchange_attributes(exchange),
                error: exchange_error(exchange),
                ..NewSpan::internal(exchange.method.as_str(), start, end)
            };
            let exchange_id = self.builder.add(span);
            self.add_phases(&exchange_id, &exchange.phases, (start, end), exchange.failure.as_ref());
        }
    }

    /// Returns the span id of the header field `traceparent` that a request was sent with, if it names this trace (W3C
    /// Trace Context 3.2): the spans of the target then hang below that of the request.
    fn span_id_of(&self, traceparent: &str) -> Option<String> {
        let mut parts = traceparent.split('-').skip(1);
        let (trace_id, span_id) = (parts.next()?, parts.next()?);
        let is_span_id = span_id.len() == 16 && span_id.bytes().all(|byte| byte.is_ascii_hexdigit());
        (trace_id == self.builder.trace_id() && is_span_id).then(|| span_id.to_owned())
    }

    /// Adds the phases of the attempt that belong to no exchange: what was prepared before the first, and the checks of
    /// the response after the last one.
    fn add_phases_without_exchange(&mut self, parent: &str, exchanges: &[TracedExchange]) {
        let last_end = exchanges
            .iter()
            .map(|exchange| self.times(exchange.start_offset, total(&exchange.phases)).1)
            .max()
            .unwrap_or(self.attempt.started_at);
        let failure = self.attempt.failure.as_ref();
        let is_within = |phase| exchanges.iter().any(|exchange| exchange.phases.micros(phase).is_some());
        for (phase, micros) in self.attempt.phases.iter().filter(|(phase, _)| !is_within(*phase)) {
            let start = if phase == Phase::Prepare { self.attempt.started_at } else { last_end };
            let end = (start + Duration::from_micros(micros.into())).min(self.end);
            self.add_phase(parent, PhaseTime { phase, start: start.min(self.end), end }, failure);
        }
    }

    fn add_phases(
        &mut self,
        parent: &str,
        phases: &Phases,
        (start, end): (Timestamp, Timestamp),
        failure: Option<&Failure>,
    ) {
        for time in phase_times(phases, start, end, failure.map(|failure| failure.phase)) {
            self.add_phase(parent, time, failure);
        }
    }

    fn add_phase(&mut self, parent: &str, time: PhaseTime, failure: Option<&Failure>) {
        let PhaseTime { phase, start, end } = time;
        let span = NewSpan { parent: Some(parent), ..NewSpan::internal(phase.name(), start, end) };
        self.builder.add(span.with_failure(failure.filter(|failure| failure.phase == phase)));
    }

    /// Returns start and end of what began `offset` after the attempt, at most until its end.
    fn times(&self, offset: Duration, duration: Duration) -> (Timestamp, Timestamp) {
        let start = (self.attempt.started_at + offset).min(self.end);
        (start, (start + duration).min(self.end))
    }
}

/// Returns the attributes of a client span by the semantic conventions of HTTP.
fn exchange_attributes(exchange: &TracedExchange) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("http.request.method", exchange.method.as_str()),
        KeyValue::new("url.full", exchange.url.as_str()),
    ];
    if exchange.http_status > 0 {
        attributes.push(KeyValue::new("http.response.status_code", i64::from(exchange.http_status)));
    }
    if let Some(address) = exchange.address {
        attributes.extend(peer_attributes(address));
    }
    match &exchange.failure {
        Some(failure) => attributes.extend(failure_attributes(failure)),
        // The status stands for the type of an error that the response tells.
        None if exchange.http_status >= 400 => {
            attributes.push(KeyValue::new("error.type", exchange.http_status.to_string()));
        }
        None => {}
    }
    attributes
}

fn exchange_error(exchange: &TracedExchange) -> Option<String> {
    let by_status = || (exchange.http_status >= 400).then(|| format!("HTTP status {}", exchange.http_status));
    exchange.failure.as_ref().map(ToString::to_string).or_else(by_status)
}

fn total(phases: &Phases) -> Duration {
    Duration::from_micros(phases.iter().map(|(_, micros)| u64::from(micros)).sum())
}
