//! Sends the requests of an attempt and adds its steps to the observation.

use std::sync::Arc;

use tokio::time::Instant;

use super::redact_step::redact_step;
use super::step_in_progress::{StepInProgress, StepResponse, with_step_prefix};
use crate::domain::{Failure, Observation, WarningKind};
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::http::client::{
    ConnectOptions, CookieJar, ExchangeRecord, RequestChain, RequestContext, RequestSpec, captures,
};
use crate::protocol::http::{BodyContent, BodyRetention, ResponseBody, ResponseHead};
use crate::redaction::redactor::Redactor;

/// Longest excerpt of each response body in a result, in bytes.
const MAX_EXCERPT_BYTES: usize = 2 * 1024;

/// Options of all requests of an attempt.
#[derive(Clone, Copy)]
pub(in crate::probe) struct RequestOptions<'a> {
    pub(in crate::probe) connect_options: &'a ConnectOptions,
    /// Longest body that is read, in bytes after decoding.
    pub(in crate::probe) max_body_bytes: u64,
}

/// Sends the requests of one attempt, with one cookie jar, and records its steps.
pub(in crate::probe) struct StepRunner<'a> {
    pub(in crate::probe) cx: ProbeContext<'a>,
    /// Options of the requests to come.
    pub(in crate::probe) request_options: RequestOptions<'a>,
    /// When the attempt began.
    pub(in crate::probe) started: Instant,
    pub(in crate::probe) cookie_jar: CookieJar,
    /// Credentials sent in requests. They are redacted everywhere.
    request_secrets: Vec<String>,
    /// Redacts these and the secrets of variables; `None` when it must be built again since a secret was added.
    redactor: Option<Redactor>,
    pub(in crate::probe) observation: Observation,
}

impl<'a> StepRunner<'a> {
    pub(in crate::probe) fn new(
        cx: ProbeContext<'a>,
        request_options: RequestOptions<'a>,
        started: Instant,
    ) -> Self {
        Self {
            cx,
            request_options,
            started,
            cookie_jar: CookieJar::default(),
            request_secrets: Vec::new(),
            redactor: None,
            observation: Observation::default(),
        }
    }

    /// Begins a step.
    pub(in crate::probe) fn begin_step(&self, number: u32, name: &str) -> StepInProgress {
        StepInProgress::new(number, name.to_owned(), self.started)
    }

    /// Adds credentials that requests contain, so that no result shows them.
    pub(in crate::probe) fn add_secrets(&mut self, secrets: impl IntoIterator<Item = String>) {
        for secret in secrets {
            if !self.request_secrets.contains(&secret) {
                self.request_secrets.push(secret);
                self.redactor = None;
            }
        }
    }

    /// Returns `text` without the secrets that are known when a step has ended.
    pub(in crate::probe) fn redact(&self, text: &str) -> String {
        self.redactor.as_ref().map_or_else(|| text.to_owned(), |redactor| redactor.redact(text).into_owned())
    }

    /// Tells that the secret values given to [`Self::finish_step`] have changed.
    pub(in crate::probe) fn forget_redactor(&mut self) {
        self.redactor = None;
    }

    /// Returns the observation, with all added credentials masked in all of it, also in steps that were finished before
    /// they were added.
    pub(in crate::probe) fn into_redacted_observation(self) -> Observation {
        let mut observation = self.observation;
        let redactor = Redactor::from_secrets(self.request_secrets.iter().map(String::as_str));
        if !redactor.is_empty() {
            redactor.redact_observation(&mut observation);
        }
        observation
    }

    /// Sends the request, follows redirects and authentication, and reads the last response. `None` after a failure,
    /// which is then one of the step's.
    pub(in crate::probe) async fn send(
        &mut self,
        step: &mut StepInProgress,
        request: &RequestSpec,
        retention: BodyRetention,
    ) -> Option<StepResponse> {
        let ProbeContext { net, deadline, .. } = self.cx;
        let request_context = RequestContext {
            net,
            connect_options: self.request_options.connect_options,
            deadline,
            started: self.started,
            record_exchanges: true,
        };
        let sent_at = Instant::now();
        let mut cookie_jar = std::mem::take(&mut self.cookie_jar);
        let mut chain = RequestChain::new(request_context, request, &mut cookie_jar);
        let response = loop {
            let (head, body) = match chain.send().await {
                Ok(response) => response,
                Err(failure) => {
                    step.record_exchange(
                        &mut chain,
                        &ExchangeRecord { failure: Some(&failure), ..ExchangeRecord::default() },
                    );
                    step.result.failures.push(failure);
                    break None;
                }
            };
            step.record_facts(&chain, &head);
            let record = ExchangeRecord {
                head: Some(&head),
                max_body_bytes: MAX_EXCERPT_BYTES,
                ..ExchangeRecord::default()
            };
            let redirect_exchange =
                chain.needs_next_request(&head).then(|| chain.build_http_exchange(&record));
            match chain.prepare_next_request(&head) {
                Ok(true) => step.result.exchanges.extend(redirect_exchange),
                Ok(false) => {
                    break self.read_response(step, &mut chain, head, (body, retention), sent_at).await;
                }
                Err(failure) => {
                    step.record_exchange(
                        &mut chain,
                        &ExchangeRecord {
                            head: Some(&head),
                            failure: Some(&failure),
                            ..ExchangeRecord::default()
                        },
                    );
                    step.captures.push(captures::head_capture(&head));
                    step.result.failures.push(failure);
                    break None;
                }
            }
        };
        step.merge_trace(chain.finish());
        self.cookie_jar = cookie_jar;
        response
    }

    async fn read_response(
        &self,
        step: &mut StepInProgress,
        chain: &mut RequestChain<'_>,
        head: ResponseHead,
        (body, retention): (ResponseBody, BodyRetention),
        sent_at: Instant,
    ) -> Option<StepResponse> {
        let phases = &mut chain.exchange_trace.phases;
        let max_body_bytes = self.request_options.max_body_bytes;
        let content = body.read(retention, max_body_bytes, self.cx.deadline, phases).await;
        let elapsed = sent_at.elapsed();
        let BodyContent { bytes, wire_bytes, body_bytes, unknown_coding_note, failure } = content;
        step.notes.extend(unknown_coding_note);
        if let Some(facts) = &mut step.http_facts {
            (facts.body_wire_bytes, facts.body_bytes) = (wire_bytes, body_bytes);
        }
        let max_recorded_bytes =
            if self.cx.record_exchanges { captures::MAX_CAPTURED_BODY_BYTES } else { MAX_EXCERPT_BYTES };
        step.record_exchange(
            chain,
            &ExchangeRecord {
                head: Some(&head),
                body: &bytes,
                wire_bytes,
                body_bytes,
                failure: failure.as_ref(),
                max_body_bytes: max_recorded_bytes,
            },
        );
        let response = StepResponse {
            head,
            body: Arc::new(bytes),
            body_bytes,
            elapsed,
            url: chain.url().clone(),
            sent_credentials: chain.sent_credentials(),
        };
        let Some(failure) = failure else { return Some(response) };
        step.result.failures.push(failure);
        step.capture_response(&response);
        None
    }

    /// Adds the step to the observation and returns the failure of the attempt, if the step failed; the caller decides
    /// whether it ends the attempt. Redacts what requests sent, and `variable_secrets`.
    pub(in crate::probe) fn finish_step<'s>(
        &mut self,
        mut step: StepInProgress,
        variable_secrets: impl Iterator<Item = &'s str>,
    ) -> Option<Failure> {
        step.complete();
        let redactor = self.redactor.take().unwrap_or_else(|| {
            Redactor::from_secrets(
                self.request_secrets
                    .iter()
                    .map(String::as_str)
                    .chain(variable_secrets.map(|secret| -> &str { secret })),
            )
        });
        redact_step(&mut step, &redactor);
        self.redactor = Some(redactor);
        let attempt_failure = step.attempt_failure();
        let StepInProgress { result, http_facts, redirect_warning, notes, captures, chain_trace, .. } = step;
        let observation = &mut self.observation;
        observation.phases.merge(&chain_trace.phases);
        observation.address = chain_trace.last_exchange.peer_address.or(observation.address);
        if !chain_trace.last_exchange.resolved_addresses.is_empty() {
            observation.facts.resolved_addresses = chain_trace.last_exchange.resolved_addresses;
        }
        if let Some(facts) = chain_trace.last_exchange.tls_facts {
            observation.record_tls_warnings(&facts);
            observation.facts.tls = Some(facts);
        }
        if let Some(mut facts) = http_facts {
            facts.redirects = chain_trace.redirects;
            observation.facts.http = Some(Box::new(facts));
        }
        if let Some(message) = redirect_warning {
            observation.record_warning(WarningKind::RedirectNotFollowed, with_step_prefix(&result, &message));
        }
        for note in notes {
            observation.record_warning(WarningKind::CapabilityDowngrade, with_step_prefix(&result, &note));
        }
        observation.captures.extend(captures);
        observation.details.steps.push(result);
        attempt_failure
    }
}
