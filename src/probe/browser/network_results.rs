//! The requests and console messages of a step, in the form that is kept and evaluated.

use std::time::Duration;

use url::Url;

use super::dom;
use super::load_error::{display_url, load_error_to_failure_kind};
use super::script_browser::ScriptBrowser;
use super::step_recorder::StepRecorder;
use super::time_budget::TimeBudget;
use crate::browser::LoggedRequest;
use crate::domain::{
    ConsoleEntry, Failure, FailureKind, HeaderList, HttpExchange, PageObject, PageObjectKind, Phase,
    StepResult, Timestamp, duration_micros,
};
use crate::protocol::http::client::captures;
use crate::protocol::http::is_same_site;
use crate::redaction::redactor::Redactor;
use crate::redaction::sensitive_names::is_sensitive_header;
use crate::syntax::MASK;

/// Maximum number of objects kept per step.
const MAX_OBJECTS_PER_STEP: usize = 500;

/// A request with its classification.
struct ClassifiedRequest<'e> {
    request: &'e LoggedRequest,
    /// Whether it went to another site than that of the page at the time it started.
    third_party: bool,
    /// Whether Vigie itself blocked it.
    blocked: bool,
}

/// Adds the requests since the last call to the step. Fails when the document of a frame could not be loaded; those of
/// other sites only count with `count_third_party`.
pub(super) async fn record_network_results(
    recorder: &mut StepRecorder<'_>,
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    redactor: &Redactor,
    count_third_party: bool,
) -> Result<(), Failure> {
    // A busy page delays the driver's log, and entries that are not waited for are lost.
    let response_deadline = budget.action_wait_limit(None, None).response_deadline.max(dom::query_deadline());
    let is_log_complete = browser.fetch_logged_requests(response_deadline).await;
    browser.record_requests_before_attach(budget).await;
    if let Some(console_entries) =
        browser.network_log_reader.fetch_driver_log(&browser.session, "browser", dom::query_deadline()).await
    {
        browser.network_log_reader.lock_log().add_chrome_console(&console_entries);
    }
    let mut logged = browser.network_log_reader.lock_log().take_activity();
    for logged_request in
        logged.requests.iter_mut().filter(|logged_request| logged_request.error_name.is_some())
    {
        logged_request.proxy_failure = browser.proxy_failure(&logged_request.url);
    }
    let requests = classify_requests(&logged.requests, previous_page_url(recorder.steps()), browser);
    let first_request_at = first_request_time(&logged.requests, recorder.step_started_at());
    let document = logged.requests.iter().rev().find(|logged_request| logged_request.object_kind.is_none());
    let status = document.map(|document| document.http_status);
    let failure = frame_failure(&requests, count_third_party);
    recorder.page_documents.add(&logged.requests);
    let counted = requests.iter().filter(|request| !request.request.cancelled || request.blocked);
    let objects: Vec<PageObject> = counted
        .map(|request| {
            let object = to_page_object(request.request, request.third_party, first_request_at, redactor);
            if request.blocked { to_blocked(object) } else { object }
        })
        .collect();
    if recorder.records_exchanges() {
        let to_exchange = |request: &ClassifiedRequest<'_>| {
            let exchange = to_http_exchange(request.request, first_request_at, redactor);
            if request.blocked {
                HttpExchange { failure: Some(blocked_failure()), ..exchange }
            } else {
                exchange
            }
        };
        recorder.record_exchanges(requests.iter().map(to_exchange).collect());
    }
    let truncated_count =
        u32::try_from(objects.len().saturating_sub(MAX_OBJECTS_PER_STEP)).unwrap_or(u32::MAX);
    let step = recorder.current_browser_step();
    if let Some(status) = status.filter(|status| *status > 0) {
        step.http_status = status;
    }
    // A log that did not arrive counts as one unlisted object, since its size is unknown.
    step.unlisted_objects = logged.unlisted_requests + truncated_count + u32::from(!is_log_complete);
    step.objects = objects;
    step.objects.truncate(MAX_OBJECTS_PER_STEP);
    let redacted =
        |entry: ConsoleEntry| ConsoleEntry { text: redactor.redact(&entry.text).into_owned(), ..entry };
    step.console = logged.console_entries.into_iter().map(redacted).collect();
    failure.map_or(Ok(()), Err)
}

/// Returns the failure of a frame whose document could not be loaded; those of other sites only where they count
/// (fields.md 3, `third_party_document_errors`).
fn frame_failure(requests: &[ClassifiedRequest<'_>], count_third_party: bool) -> Option<Failure> {
    let is_counted_frame = |request: &&ClassifiedRequest<'_>| {
        request.request.is_document
            && request.request.object_kind.is_some()
            && (count_third_party || !request.third_party)
            && !request.blocked
    };
    requests.iter().filter(is_counted_frame).find_map(
        |ClassifiedRequest { request: logged_request, .. }| {
            let failure = request_failure(logged_request)?;
            Some(failure.into_page_object_failure(&display_url(&logged_request.url)))
        },
    )
}

/// Returns when the first request of the step started, by the browser's clock. A new window may report older requests.
fn first_request_time(logged_requests: &[LoggedRequest], step_started_at: Timestamp) -> f64 {
    let mut start_times = logged_requests.iter().map(|logged_request| logged_request.started_at);
    let first = start_times.clone().next().unwrap_or_default();
    let step_started = Duration::from_micros(step_started_at.as_micros().unsigned_abs()).as_secs_f64();
    start_times.find(|started| *started >= step_started).unwrap_or(first)
}

/// Classifies each of `logged_requests`; `page_url` was open before them.
fn classify_requests<'e>(
    logged_requests: &'e [LoggedRequest],
    mut page_url: Option<Url>,
    browser: &ScriptBrowser<'_>,
) -> Vec<ClassifiedRequest<'e>> {
    let classify = |logged_request: &'e LoggedRequest| {
        if logged_request.object_kind.is_none() {
            page_url = Url::parse(&logged_request.url).ok();
        }
        let third_party = is_third_party(page_url.as_ref(), &logged_request.url);
        ClassifiedRequest {
            request: logged_request,
            third_party,
            blocked: browser.is_host_denied(&logged_request.url),
        }
    };
    logged_requests.iter().map(classify).collect()
}

/// Returns the URL of the page at the end of the step before the current one, which is the last of `steps`.
fn previous_page_url(steps: &[StepResult]) -> Option<Url> {
    let previous = steps.iter().rev().nth(1)?.browser_step.as_deref()?;
    Url::parse(&previous.url).ok()
}

/// Returns `object` marked as blocked, without the response: that came from Vigie's own proxy.
fn to_blocked(object: PageObject) -> PageObject {
    let (http_status, body_wire_bytes, body_bytes) = (0, 0, 0);
    let (http_version, mimetype) = Default::default();
    PageObject {
        blocked: true,
        failure: None,
        http_status,
        http_version,
        media_type: mimetype,
        body_wire_bytes,
        body_bytes,
        ..object
    }
}

fn to_page_object(
    request: &LoggedRequest,
    third_party: bool,
    first_request_at: f64,
    redactor: &Redactor,
) -> PageObject {
    let time = |seconds: f64| duration_micros(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    PageObject {
        url: redactor.redact(&display_url(&request.url)).into_owned(),
        kind: request.object_kind.unwrap_or(PageObjectKind::Document),
        third_party,
        blocked: false,
        start_offset_us: time(request.started_at - first_request_at),
        duration_us: time(request.ended_at - request.started_at),
        phases: request.phases,
        http_status: request.http_status,
        http_version: request.http_version.clone(),
        media_type: request.mimetype.clone(),
        body_wire_bytes: request.body_wire_bytes,
        body_bytes: request.body_bytes,
        failure: request_failure(request),
    }
}

/// Converts a request for HAR files (`vigie check --har`); times start at the first request of the step. It has no
/// bodies.
fn to_http_exchange(request: &LoggedRequest, first_request_at: f64, redactor: &Redactor) -> HttpExchange {
    let fields = |fields: &[(String, String)]| -> HeaderList {
        let value = |name: &str, value: &str| {
            if is_sensitive_header(name) { MASK.to_owned() } else { redactor.redact(value).into_owned() }
        };
        fields.iter().map(|(name, text)| (name.clone(), value(name, text))).collect()
    };
    let started = Duration::try_from_secs_f64(request.started_at - first_request_at).unwrap_or_default();
    HttpExchange {
        start_offset_us: duration_micros(started),
        method: request.method.clone(),
        url: redactor.redact(&display_url(&request.url)).into_owned(),
        phases: request.phases,
        request_headers: fields(&request.request_headers),
        http_status: request.http_status,
        http_version: request.http_version.clone(),
        response_headers: fields(&request.response_headers),
        body_wire_bytes: request.body_wire_bytes,
        body_bytes: request.body_bytes,
        failure: if request.cancelled { Some(cancelled_failure()) } else { request_failure(request) },
        ..HttpExchange::default()
    }
}

fn cancelled_failure() -> Failure {
    Failure::new(Phase::RunScript, FailureKind::Cancelled, "cancelled by the page")
}

fn blocked_failure() -> Failure {
    Failure::new(Phase::RunScript, FailureKind::Cancelled, "its host is blocked by the settings")
}

fn is_third_party(page: Option<&Url>, url: &str) -> bool {
    let url = Url::parse(url).ok();
    page.zip(url.as_ref()).is_some_and(|(page, url)| !is_same_site(page, url))
}

/// Whether `url` is that of the icon that browsers request by themselves.
pub(super) fn is_favicon(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.path() == "/favicon.ico")
}

/// Returns why a request failed, if it did.
fn request_failure(request: &LoggedRequest) -> Option<Failure> {
    if request.cancelled || is_favicon(&request.url) {
        return None;
    }
    if let Some(cause) = &request.proxy_failure {
        return Some(cause.clone());
    }
    if let Some(error) = &request.error_name {
        let name = error.strip_prefix("net::").unwrap_or(error);
        return Some(Failure::new(Phase::RunScript, load_error_to_failure_kind(name), name.to_owned()));
    }
    (request.http_status >= 400).then(|| {
        Failure::new(Phase::FirstByte, FailureKind::HttpErrorStatus, request.http_status.to_string())
    })
}

/// Returns the header fields of an exchange as text, with credentials redacted.
pub(super) fn header_text(request: &LoggedRequest, redactor: &Redactor) -> String {
    let lines = |fields: &[(String, String)]| {
        captures::format_headers(fields.iter().map(|(name, value)| (&**name, &**value)))
    };
    let text = format!(
        "{} {}\r\n{}\r\n{} {}\r\n{}",
        request.method,
        display_url(&request.url),
        lines(&request.request_headers),
        request.http_version,
        request.http_status,
        lines(&request.response_headers)
    );
    redactor.redact(&text).into_owned()
}
