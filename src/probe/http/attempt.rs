//! One attempt at a website monitor: sends the requests and evaluates the last response.

use std::sync::Arc;

use http::StatusCode;
use tokio::time::Instant;

use super::options::WebsiteOptions;
use super::page_analysis::FetchedPage;
use crate::domain::{Failure, FailureKind, HttpFacts, Observation, Phase, WarningKind};
use crate::evaluate::certificate::ExpiryFinding;
use crate::probe::keyword_search;
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::http::client::{
    CookieJar, ExchangeRecord, RequestChain, RequestContext, RequestSpec, captures, content_type,
    describe_status, display_url, truncate_for_result, unfollowed_redirect_note, version_name,
};
use crate::protocol::http::{BodyContent, BodyRetention, ResponseBody, ResponseHead};

pub(super) struct HttpAttempt<'a> {
    options: &'a WebsiteOptions,
    cx: ProbeContext<'a>,
    observation: Observation,
    chain: RequestChain<'a>,
    /// SHA-256 of the certificates that were warned about: redirects within one host present the same certificate.
    warned_certificates: Vec<String>,
    /// The fetched page, when it passed and must be analysed further.
    fetched_page: Option<FetchedPage>,
}

impl<'a> HttpAttempt<'a> {
    pub(super) fn new(
        options: &'a WebsiteOptions,
        cx: ProbeContext<'a>,
        started: Instant,
        request: &'a RequestSpec,
        cookie_jar: &'a mut CookieJar,
    ) -> Self {
        let observation = Observation::default();
        let request_context = RequestContext {
            net: cx.net,
            connect_options: &options.connect_options,
            deadline: cx.deadline,
            started,
            record_exchanges: cx.record_exchanges,
        };
        Self {
            options,
            cx,
            observation,
            chain: RequestChain::new(request_context, request, cookie_jar),
            warned_certificates: Vec::new(),
            fetched_page: None,
        }
    }

    /// Takes the fetched page; `None` unless it passed and must be analysed further.
    pub(super) fn take_fetched_page(&mut self) -> Option<FetchedPage> {
        let page = self.fetched_page.take()?;
        Some(FetchedPage { auth_state: self.chain.take_auth_state(), ..page })
    }

    /// Sends requests until the last response, and evaluates that.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        loop {
            let response = self.chain.send().await;
            if self.chain.used_tls() {
                self.evaluate_certificate_expiry();
            }
            if let Some(message) = self.chain.take_version_fallback_note() {
                self.observation.record_warning(WarningKind::CapabilityDowngrade, message);
            }
            let (head, body) = match response {
                Ok(response) => response,
                Err(failure) => {
                    self.record_exchange(&ExchangeRecord {
                        failure: Some(&failure),
                        ..ExchangeRecord::default()
                    });
                    return Err(failure);
                }
            };
            self.record_response(&head);
            let redirect_exchange = self.cx.record_exchanges.then(|| {
                self.chain
                    .build_http_exchange(&ExchangeRecord { head: Some(&head), ..ExchangeRecord::default() })
            });
            let next_request = match self.forbidden_redirect(&head) {
                Some(failure) => Err(failure),
                None => self.chain.prepare_next_request(&head),
            };
            if matches!(next_request, Ok(true)) {
                drop(body);
                self.observation.details.exchanges.extend(redirect_exchange);
                continue;
            }
            let evaluation_result = match next_request {
                Ok(_) => self.evaluate(&head, body).await,
                Err(failure) => {
                    self.record_exchange(&ExchangeRecord {
                        head: Some(&head),
                        failure: Some(&failure),
                        ..ExchangeRecord::default()
                    });
                    Err(failure)
                }
            };
            if evaluation_result.is_err() || self.observation.failure.is_some() {
                self.observation.captures.insert(0, captures::head_capture(&head));
            }
            return evaluation_result;
        }
    }

    /// Returns the failure of a redirect that the monitor forbids.
    fn forbidden_redirect(&self, head: &ResponseHead) -> Option<Failure> {
        let fails_on_302 = self.options.fails_on_302 && self.options.expected_statuses.is_none();
        (fails_on_302 && head.status == StatusCode::FOUND).then(|| {
            let detail = format!("`{}` responded with 302", display_url(self.chain.url()));
            Failure::new(Phase::Validate, FailureKind::Http302Forbidden, detail)
        })
    }

    /// Returns the observation, complete up to the point where the attempt stopped.
    pub(super) fn into_observation(self) -> Observation {
        let Self { mut observation, chain: request_chain, .. } = self;
        let chain_trace = request_chain.finish();
        observation.phases = chain_trace.phases;
        observation.address = chain_trace.last_exchange.peer_address;
        observation.facts.resolved_addresses = chain_trace.last_exchange.resolved_addresses;
        observation.facts.tls = chain_trace.last_exchange.tls_facts;
        if let Some(facts) = &mut observation.facts.http {
            facts.redirects = chain_trace.redirects;
        }
        observation
    }

    /// Records the exchange in progress if it failed, or if exchanges are requested.
    fn record_exchange(&mut self, record: &ExchangeRecord<'_>) {
        if self.cx.record_exchanges || record.failure.is_some() || self.observation.failure.is_some() {
            let exchange = self.chain.build_http_exchange(record);
            self.observation.details.exchanges.push(exchange);
        }
    }

    fn evaluate_certificate_expiry(&mut self) {
        let Some(tls) = &self.chain.exchange_trace.tls_facts else { return };
        self.observation.record_tls_warnings(tls);
        match self.options.expiry_rule.evaluate(tls, self.cx.clock.now()) {
            None => {}
            Some(ExpiryFinding::Expired(failure)) => self.observation.record_failure(failure),
            Some(ExpiryFinding::Expiring { sha256, .. }) if self.warned_certificates.contains(&sha256) => {}
            Some(ExpiryFinding::Expiring { sha256, message }) => {
                self.warned_certificates.push(sha256);
                self.observation.record_warning(WarningKind::CertificateExpiring, message);
            }
        }
    }

    /// Sets the HTTP facts to those of this response; only the last one counts.
    fn record_response(&mut self, head: &ResponseHead) {
        let facts = self.observation.facts.http.get_or_insert_default();
        **facts = HttpFacts {
            http_status: head.status.as_u16(),
            http_version: version_name(head.version).to_owned(),
            http_reason: head.reason_phrase.as_deref().map(truncate_for_result),
            content_type: content_type(&head.headers).map(truncate_for_result),
            url: self.chain.url().as_str().to_owned(),
            ..HttpFacts::default()
        };
    }

    async fn evaluate(&mut self, head: &ResponseHead, body: ResponseBody) -> Result<(), Failure> {
        if let Err(failure) = self.evaluate_status(head) {
            self.observation.record_failure(failure);
        }
        let keyword = self.options.keyword_search.as_ref().filter(|_| self.observation.failure.is_none());
        let needs_page = !head.status.is_redirection()
            && self.observation.failure.is_none()
            && self.options.needs_page_analysis(&self.cx);
        let retention = match (keyword, &self.observation.failure) {
            (Some(_), _) => BodyRetention::All,
            (None, None) if needs_page => BodyRetention::All,
            (None, Some(_)) => BodyRetention::Prefix(captures::MAX_CAPTURED_BODY_BYTES),
            (None, None) if self.cx.record_exchanges => {
                BodyRetention::Prefix(captures::MAX_CAPTURED_BODY_BYTES)
            }
            (None, None) => BodyRetention::Discard,
        };
        let (max_body_bytes, deadline) = (self.options.max_body_bytes, self.cx.deadline);
        let body_content =
            body.read(retention, max_body_bytes, deadline, &mut self.chain.exchange_trace.phases).await;
        if let Some(facts) = &mut self.observation.facts.http {
            facts.body_wire_bytes = body_content.wire_bytes;
            facts.body_bytes = body_content.body_bytes;
        }
        let media_type = content_type(&head.headers);
        let BodyContent { bytes, wire_bytes, body_bytes, unknown_coding_note, failure } = body_content;
        if let Some(note) = unknown_coding_note {
            self.observation.record_warning(WarningKind::CapabilityDowngrade, note);
        }
        let bytes = Arc::new(bytes);
        let evaluation_result = match (failure, keyword) {
            (Some(failure), _) => Err(failure),
            (None, None) => Ok(()),
            (None, Some(keyword)) => {
                let started = Instant::now();
                let (body, media_type) = (Arc::clone(&bytes), media_type.map(str::to_owned));
                let evaluation_result =
                    keyword_search::search_keyword((**keyword).clone(), body, media_type, deadline).await;
                self.chain.exchange_trace.phases.set(Phase::Validate, started.elapsed());
                evaluation_result
            }
        };
        let failure = evaluation_result.as_ref().err();
        // On failure, the body is a capture of its own.
        let max_recorded_bytes = if self.cx.record_exchanges { captures::MAX_CAPTURED_BODY_BYTES } else { 0 };
        self.record_exchange(&ExchangeRecord {
            head: Some(head),
            body: &bytes,
            wire_bytes,
            body_bytes,
            failure,
            max_body_bytes: max_recorded_bytes,
        });
        if evaluation_result.is_err() || self.observation.failure.is_some() {
            self.observation.captures.extend(captures::body_capture(&bytes, media_type));
        } else if needs_page {
            let (content_type, url) = (media_type.map(str::to_owned), self.chain.url().clone());
            self.fetched_page = Some(FetchedPage { body: bytes, content_type, url, auth_state: None });
        }
        evaluation_result
    }

    /// Fails for a status that the settings do not allow; records a warning for a redirect that was not followed.
    fn evaluate_status(&mut self, head: &ResponseHead) -> Result<(), Failure> {
        let status_failure = |kind, text: &str| {
            let detail = format!("{} from `{}`{text}", describe_status(head), display_url(self.chain.url()));
            Err(Failure::new(Phase::Validate, kind, detail))
        };
        if let Some(expected) = &self.options.expected_statuses {
            return if expected.contains(head.status.as_u16()) {
                Ok(())
            } else {
                status_failure(FailureKind::HttpErrorStatus, ", which is not one of `expected_statuses`")
            };
        }
        match head.status.as_u16() {
            100..200 => status_failure(FailureKind::ResponseInvalid, ", which was not requested"),
            300..400 => {
                let detail = unfollowed_redirect_note(head, self.chain.url());
                self.observation.record_warning(WarningKind::RedirectNotFollowed, detail);
                Ok(())
            }
            401 if self.chain.sent_credentials() => {
                status_failure(FailureKind::LoginRejected, " after user name and password were sent")
            }
            401 if !self.options.fails_on_401 => Ok(()),
            400.. => status_failure(FailureKind::HttpErrorStatus, ""),
            _ => Ok(()),
        }
    }
}
