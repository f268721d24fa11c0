//! A step while it runs, and the response that it received.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use crate::domain::{CapturedFile, Failure, HttpFacts, Phase, Status, StepResult, duration_micros};
use crate::protocol::http::ResponseHead;
use crate::protocol::http::client::{
    ChainTrace, ExchangeRecord, RequestChain, captures, content_type, truncate_for_result, version_name,
};

/// Longest failure detail of a step with several failures, in characters.
const MAX_DETAIL_CHARS: usize = 1000;

/// A step that has begun and is not in the observation yet.
pub(in crate::probe) struct StepInProgress {
    /// What the result will show of it.
    pub(in crate::probe) result: StepResult,
    started: Instant,
    /// Status, headers and other facts of the last response.
    pub(super) http_facts: Option<HttpFacts>,
    /// The warning of a redirect that was not followed.
    pub(in crate::probe) redirect_warning: Option<String>,
    /// Remarks that leave the outcome as it is.
    pub(in crate::probe) notes: Vec<String>,
    /// Files kept as evidence.
    pub(super) captures: Vec<CapturedFile>,
    /// The trace of all its requests.
    pub(super) chain_trace: ChainTrace,
}

/// The last response to a request, after redirects and authentication.
#[derive(Clone, Debug)]
pub(in crate::probe) struct StepResponse {
    /// Status and header fields.
    pub(in crate::probe) head: ResponseHead,
    /// The decoded body, as far as it was asked for.
    pub(in crate::probe) body: Arc<Vec<u8>>,
    /// Its length after decoding, in bytes.
    pub(in crate::probe) body_bytes: u64,
    /// Time from the start of the request, redirects included, to the end of the body.
    pub(in crate::probe) elapsed: Duration,
    /// The URL that it came from.
    pub(in crate::probe) url: Url,
    /// Whether the last request sent the login.
    pub(in crate::probe) sent_credentials: bool,
}

impl StepInProgress {
    /// Begins step `number`, in an attempt that began at `attempt_started`.
    pub(in crate::probe) fn new(number: u32, name: String, attempt_started: Instant) -> Self {
        Self {
            result: StepResult::new(number, name, duration_micros(attempt_started.elapsed())),
            started: Instant::now(),
            http_facts: None,
            redirect_warning: None,
            notes: Vec::new(),
            captures: Vec::new(),
            chain_trace: ChainTrace::default(),
        }
    }

    /// Adds the time that evaluating the last response took.
    pub(in crate::probe) fn record_validation(&mut self, duration: Duration) {
        let exchange_phases = self.result.exchanges.last_mut().map(|exchange| &mut exchange.phases);
        if let Some(phases) = exchange_phases {
            phases.set(Phase::Validate, duration);
        }
        self.chain_trace.last_exchange.phases.set(Phase::Validate, duration);
        self.chain_trace.phases.add(Phase::Validate, duration);
    }

    /// Keeps head and body of `response` as evidence of a failure.
    pub(in crate::probe) fn capture_response(&mut self, response: &StepResponse) {
        self.captures.push(captures::head_capture(&response.head));
        self.captures.extend(captures::body_capture(&response.body, content_type(&response.head.headers)));
    }

    /// Keeps `text` as evidence, in a file `name`.
    pub(in crate::probe) fn capture_text(&mut self, name: &str, text: &str) {
        self.captures.push(CapturedFile::new(name, "text/plain; charset=utf-8", text.as_bytes()));
    }

    pub(super) fn record_exchange(&mut self, chain: &mut RequestChain<'_>, record: &ExchangeRecord<'_>) {
        self.result.exchanges.push(chain.build_http_exchange(record));
    }

    pub(super) fn record_facts(&mut self, chain: &RequestChain<'_>, head: &ResponseHead) {
        self.http_facts = Some(HttpFacts {
            http_status: head.status.as_u16(),
            http_version: version_name(head.version).to_owned(),
            http_reason: head.reason_phrase.as_deref().map(truncate_for_result),
            content_type: content_type(&head.headers).map(truncate_for_result),
            url: chain.url().as_str().to_owned(),
            ..HttpFacts::default()
        });
    }

    /// Adds the trace of a request to those of earlier requests of this step.
    pub(super) fn merge_trace(&mut self, trace: ChainTrace) {
        self.chain_trace.phases.merge(&trace.phases);
        self.chain_trace.last_exchange = trace.last_exchange;
        self.chain_trace.redirects = trace.redirects;
    }

    /// Sets duration and status, once all failures are known.
    pub(super) fn complete(&mut self) {
        self.result.duration_us = duration_micros(self.started.elapsed());
        self.result.phases = self.chain_trace.phases;
        self.result.status = self.result.failures.first().map_or(Status::OK, Failure::status);
    }

    /// Returns the failure of the attempt: the first of this step, with its name and the details of all.
    pub(super) fn attempt_failure(&self) -> Option<Failure> {
        let first = self.result.failures.first()?;
        let details: Vec<&str> = self.result.failures.iter().map(|failure| failure.detail.as_str()).collect();
        let mut detail = with_step_prefix(&self.result, &details.join("; "));
        if let Some((end, _)) = detail.char_indices().nth(MAX_DETAIL_CHARS) {
            detail.truncate(end);
            detail.push('…');
        }
        Some(Failure { detail, ..first.clone() })
    }
}

/// Returns `text` with number and name of the step that it is about.
pub(super) fn with_step_prefix(result: &StepResult, text: &str) -> String {
    format!("step {} `{}`: {text}", result.number, result.name)
}
