//! What the export keeps of a result: enough for all signals, and little of it, since thousands may wait.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::{
    Attempt, CheckId, CheckResult, CustomerId, Failure, HttpExchange, LocationId, MonitorId, MonitorType,
    Outcome, Phases, Status, StepResult, Timestamp, truncate,
};

/// Most characters of one text.
const MAX_TEXT_CHARS: usize = 2_000;
/// Most steps of a check.
const MAX_STEPS: usize = 100;
/// Most HTTP exchanges of a step, or of a check without steps.
const MAX_EXCHANGES: usize = 20;

/// What a result does not hold itself.
#[derive(Clone, Debug)]
pub struct CheckContext {
    /// The account of the monitor.
    pub account: CustomerId,
    /// Key of the monitor in its file; `None` without a file.
    pub monitor_key: Option<Arc<str>>,
    /// Name of the location; empty when it is unknown.
    pub location_name: Arc<str>,
}

/// A result to be exported.
#[derive(Clone, Debug)]
pub struct ExportedCheck {
    pub(super) context: CheckContext,
    pub(super) check_id: CheckId,
    pub(super) monitor_id: MonitorId,
    pub(super) monitor_name: Arc<str>,
    pub(super) monitor_type: MonitorType,
    pub(super) location_id: LocationId,
    pub(super) outcome: Outcome,
    pub(super) status: Status,
    pub(super) started_at: Timestamp,
    /// When the last attempt ended; for a missed run, when it was found to be missed.
    pub(super) ended_at: Timestamp,
    /// `None` for a run that did not happen.
    pub(super) duration_us: Option<u64>,
    /// Phases of the last attempt.
    pub(super) phases: Phases,
    /// Number of steps that failed, of a check with steps.
    pub(super) failed_steps: Option<u32>,
    /// End of the validity of the certificate of the target.
    pub(super) certificate_end: Option<Timestamp>,
    /// Set for a check that failed, unless only metrics are exported.
    pub(super) failed: Option<Box<FailedCheck>>,
}

/// What logs and traces show of a check that failed.
#[derive(Clone, Debug)]
pub(super) struct FailedCheck {
    /// Why it failed, in one sentence.
    pub(super) reason: String,
    pub(super) status_text: String,
    pub(super) address: Option<SocketAddr>,
    /// URL and status code of the last HTTP response.
    pub(super) last_response: Option<(String, u16)>,
    /// Trace id of its requests, if they had one.
    pub(super) trace_id: Option<u128>,
    pub(super) attempts: Vec<Attempt>,
    /// Steps of the last attempt.
    pub(super) steps: Vec<TracedStep>,
    /// HTTP exchanges of the last attempt, outside of steps.
    pub(super) exchanges: Vec<TracedExchange>,
}

/// A step of the last attempt.
#[derive(Clone, Debug)]
pub(super) struct TracedStep {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) start_offset: Duration,
    pub(super) duration: Duration,
    pub(super) phases: Phases,
    pub(super) failure: Option<Failure>,
    pub(super) exchanges: Vec<TracedExchange>,
}

/// An HTTP exchange of the last attempt.
#[derive(Clone, Debug)]
pub(super) struct TracedExchange {
    pub(super) start_offset: Duration,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) address: Option<SocketAddr>,
    pub(super) phases: Phases,
    /// 0 without a response.
    pub(super) http_status: u16,
    pub(super) failure: Option<Failure>,
    /// The header field that it was sent with.
    pub(super) traceparent: Option<String>,
}

impl ExportedCheck {
    /// Copies what is exported of `result`; with `with_failure` also what logs and traces show of a check that failed.
    #[must_use]
    pub fn from_result(result: &CheckResult, context: CheckContext, with_failure: bool) -> Self {
        let has_failed = matches!(result.outcome, Outcome::Error | Outcome::Unknown);
        Self {
            context,
            check_id: result.check_id,
            monitor_id: result.monitor_id,
            monitor_name: Arc::clone(&result.monitor_name),
            monitor_type: result.monitor_type,
            location_id: result.location_id,
            outcome: result.outcome,
            status: result.status,
            started_at: result.started_at,
            ended_at: end_of(result),
            duration_us: (!result.attempts.is_empty()).then_some(result.duration_us),
            phases: result.phases(),
            failed_steps: result.details.failed_steps(),
            certificate_end: result.peer_certificate().map(|certificate| certificate.not_after),
            failed: (has_failed && with_failure).then(|| Box::new(FailedCheck::from_result(result))),
        }
    }

    /// Estimates the memory that it takes, in bytes.
    pub(super) fn estimated_bytes(&self) -> usize {
        const EXCHANGE: usize = size_of::<TracedExchange>();
        let exchanges = |list: &[TracedExchange]| -> usize {
            list.iter()
                .map(|exchange| EXCHANGE + exchange.url.len() + failure_bytes(exchange.failure.as_ref()))
                .sum()
        };
        let failed = self.failed.as_ref().map_or(0, |failed| {
            let steps = failed.steps.iter().map(|step| {
                let own = size_of::<TracedStep>() + step.name.len() + failure_bytes(step.failure.as_ref());
                own + exchanges(&step.exchanges)
            });
            let attempts = failed
                .attempts
                .iter()
                .map(|attempt| size_of::<Attempt>() + failure_bytes(attempt.failure.as_ref()));
            size_of::<FailedCheck>()
                + failed.reason.len()
                + steps.chain(attempts).sum::<usize>()
                + exchanges(&failed.exchanges)
        });
        size_of::<Self>() + failed
    }
}

impl FailedCheck {
    fn from_result(result: &CheckResult) -> Self {
        let http = result.facts.http.as_ref();
        let reason = result.reasons.first().map_or(result.status_text.as_str(), String::as_str);
        Self {
            reason: shortened(reason),
            status_text: result.status_text.clone(),
            address: result.address,
            last_response: http.map(|facts| (shortened(&facts.url), facts.http_status)),
            trace_id: result.details.trace_id().and_then(parse_trace_id),
            attempts: result.attempts.iter().map(shortened_attempt).collect(),
            steps: result.details.steps.iter().take(MAX_STEPS).map(TracedStep::from_step).collect(),
            exchanges: traced_exchanges(&result.details.exchanges),
        }
    }
}

impl TracedStep {
    fn from_step(step: &StepResult) -> Self {
        Self {
            number: step.number,
            name: shortened(&step.name),
            start_offset: Duration::from_micros(step.start_offset_us),
            duration: Duration::from_micros(step.duration_us),
            phases: step.phases,
            failure: step.failures.first().map(shortened_failure),
            exchanges: traced_exchanges(&step.exchanges),
        }
    }
}

fn traced_exchanges(exchanges: &[HttpExchange]) -> Vec<TracedExchange> {
    let traced = |exchange: &HttpExchange| TracedExchange {
        start_offset: Duration::from_micros(exchange.start_offset_us),
        method: exchange.method.clone(),
        url: shortened(&exchange.url),
        address: exchange.address,
        phases: exchange.phases,
        http_status: exchange.http_status,
        failure: exchange.failure.as_ref().map(shortened_failure),
        traceparent: exchange.request_headers.get("traceparent").map(str::to_owned),
    };
    exchanges.iter().take(MAX_EXCHANGES).map(traced).collect()
}

fn shortened_attempt(attempt: &Attempt) -> Attempt {
    Attempt {
        number: attempt.number,
        started_at: attempt.started_at,
        duration_us: attempt.duration_us,
        phases: attempt.phases,
        failure: attempt.failure.as_ref().map(shortened_failure),
        warnings: Vec::new(),
    }
}

fn shortened_failure(failure: &Failure) -> Failure {
    Failure { detail: shortened(&failure.detail), ..failure.clone() }
}

fn shortened(text: &str) -> String {
    truncate(text, MAX_TEXT_CHARS)
}

fn failure_bytes(failure: Option<&Failure>) -> usize {
    failure.map_or(0, |failure| failure.detail.len())
}

/// Returns when the last attempt ended; attempts may have pauses between them.
fn end_of(result: &CheckResult) -> Timestamp {
    let end = |attempt: &Attempt| attempt.started_at + Duration::from_micros(attempt.duration_us);
    result.attempts.last().map_or(result.started_at, end)
}

/// Parses a trace id of 32 hexadecimal digits.
fn parse_trace_id(text: &str) -> Option<u128> {
    let is_complete = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(text, 16).ok().filter(|id| is_complete && *id != 0)
}
