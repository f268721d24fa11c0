//! What the browser loaded in a step and wrote to its console, as it is kept and judged.

use std::time::Duration;

use url::Url;

use super::dom;
use super::load_error::{display_url, load_failure_kind};
use super::step_recorder::StepRecorder;
use super::time_budget::TimeBudget;
use super::window_context::WindowContext;
use crate::browser::LoggedRequest;
use crate::domain::{
    ConsoleEntry, Failure, FailureKind, HeaderList, HttpExchange, PageObject, PageObjectKind, Phase,
    StepResult, Timestamp, duration_micros,
};
use crate::protocol::http::client::captures;
use crate::redaction::redactor::Redactor;
use crate::redaction::sensitive_names::is_sensitive_header;
use crate::syntax::MASK;
use crate::webpage::same_site;

/// Objects of a step that are kept.
const MAX_OBJECTS: usize = 500;

/// A request, and where it belongs.
struct AttributedRequest<'e> {
    exchange: &'e LoggedRequest,
    /// Whether it is of another site than the page that was there when it began.
    third_party: bool,
    /// Whether Vigie itself did not let it through.
    blocked: bool,
}

/// Takes what happened since the last time into the step; answers what is wrong with its documents: a frame that could
/// not be loaded, those of other sites only where `third_party` ones count.
pub(super) async fn collect_network(
    recorder: &mut StepRecorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    redactor: &Redactor,
    third_party: bool,
) -> Result<(), Failure> {
    // A page that computes keeps its driver from telling the log, and one that is not waited for is lost.
    let latest = budget.wait_limit(None, None).latest.max(dom::short_deadline());
    let complete = window.read_requests(latest).await;
    window.read_new_window(budget).await;
    if let Some(lines) =
        window.network.fetch_driver_log(&window.session, "browser", dom::short_deadline()).await
    {
        window.network.log().on_chrome_console(&lines);
    }
    let mut pages = window.network.log().drain();
    for exchange in pages.exchanges.iter_mut().filter(|exchange| exchange.error.is_some()) {
        exchange.cause = window.proxy_failure(&exchange.url);
    }
    let placed = attribute_requests(&pages.exchanges, previous_page(recorder.steps()), window);
    let start = first_request_time(&pages.exchanges, recorder.step_started_at());
    let document = pages.exchanges.iter().rev().find(|exchange| exchange.kind.is_none());
    let status = document.map(|document| document.http_status);
    let failure = document_failure(&placed, third_party);
    recorder.last_document = document.cloned();
    let shown = placed.iter().filter(|placed| !placed.exchange.cancelled || placed.blocked);
    let objects: Vec<PageObject> = shown
        .map(|placed| {
            let seen = to_page_object(placed.exchange, placed.third_party, start, redactor);
            if placed.blocked { to_blocked(seen) } else { seen }
        })
        .collect();
    if recorder.keeps_exchanges() {
        let recorded = |placed: &AttributedRequest<'_>| {
            let seen = to_http_exchange(placed.exchange, start, redactor);
            if placed.blocked { HttpExchange { failure: Some(blocked_failure()), ..seen } } else { seen }
        };
        recorder.record_exchanges(placed.iter().map(recorded).collect());
    }
    let unlisted = u32::try_from(objects.len().saturating_sub(MAX_OBJECTS)).unwrap_or(u32::MAX);
    let step = recorder.browser_step();
    if let Some(status) = status.filter(|status| *status > 0) {
        step.http_status = status;
    }
    // Of a log that did not come nobody knows how much it had.
    step.unlisted = pages.unlisted + unlisted + u32::from(!complete);
    step.objects = objects;
    step.objects.truncate(MAX_OBJECTS);
    let hidden =
        |entry: ConsoleEntry| ConsoleEntry { text: redactor.redact(&entry.text).into_owned(), ..entry };
    step.console = pages.console.into_iter().map(hidden).collect();
    failure.map_or(Ok(()), Err)
}

/// A frame whose document could not be loaded; those of other sites only where they count (fields.md 3,
/// `third_party_document_errors`).
fn document_failure(placed: &[AttributedRequest<'_>], third_party: bool) -> Option<Failure> {
    let counts = |placed: &&AttributedRequest<'_>| {
        placed.exchange.is_document
            && placed.exchange.kind.is_some()
            && (third_party || !placed.third_party)
            && !placed.blocked
    };
    placed.iter().filter(counts).find_map(|AttributedRequest { exchange, .. }| {
        let failure = request_failure(exchange)?;
        Some(failure.into_page_object(&display_url(&exchange.url)))
    })
}

/// When the first request of the step that `began_at` then began, by the browser's clock: what a window tells of itself
/// may be older.
fn first_request_time(exchanges: &[LoggedRequest], began_at: Timestamp) -> f64 {
    let mut all = exchanges.iter().map(|exchange| exchange.started_at);
    let first = all.clone().next().unwrap_or_default();
    let step = Duration::from_micros(began_at.as_micros().unsigned_abs()).as_secs_f64();
    all.find(|began| *began >= step).unwrap_or(first)
}

/// Each of `exchanges` with its place; `page` was there before them.
fn attribute_requests<'e>(
    exchanges: &'e [LoggedRequest],
    mut page: Option<Url>,
    window: &WindowContext<'_>,
) -> Vec<AttributedRequest<'e>> {
    let place = |exchange: &'e LoggedRequest| {
        if exchange.kind.is_none() {
            page = Url::parse(&exchange.url).ok();
        }
        let third_party = is_third_party(page.as_ref(), &exchange.url);
        AttributedRequest { exchange, third_party, blocked: window.is_denied(&exchange.url) }
    };
    exchanges.iter().map(place).collect()
}

/// The page at the end of the step before the last of `steps`.
fn previous_page(steps: &[StepResult]) -> Option<Url> {
    let before = steps.iter().rev().nth(1)?.browser_step.as_deref()?;
    Url::parse(&before.url).ok()
}

/// `object`, of which nothing came since Vigie itself kept it back: what the browser has for an answer is Vigie's own.
fn to_blocked(object: PageObject) -> PageObject {
    let (http_status, body_wire_bytes, body_bytes) = (0, 0, 0);
    let (http_version, mimetype) = Default::default();
    PageObject {
        blocked: true,
        failure: None,
        http_status,
        http_version,
        mimetype,
        body_wire_bytes,
        body_bytes,
        ..object
    }
}

fn to_page_object(
    exchange: &LoggedRequest,
    third_party: bool,
    start: f64,
    redactor: &Redactor,
) -> PageObject {
    let time = |seconds: f64| duration_micros(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    PageObject {
        url: redactor.redact(&display_url(&exchange.url)).into_owned(),
        kind: exchange.kind.unwrap_or(PageObjectKind::Document),
        third_party,
        blocked: false,
        started_us: time(exchange.started_at - start),
        total_us: time(exchange.ended_at - exchange.started_at),
        phases: exchange.phases,
        http_status: exchange.http_status,
        http_version: exchange.http_version.clone(),
        mimetype: exchange.mimetype.clone(),
        body_wire_bytes: exchange.wire_bytes,
        body_bytes: exchange.bytes,
        failure: request_failure(exchange),
    }
}

/// A request as HAR files show it (`vigie check --har`), from the first one of the step. What the browser read and
/// sent beyond heads is not known.
fn to_http_exchange(exchange: &LoggedRequest, start: f64, redactor: &Redactor) -> HttpExchange {
    let fields = |fields: &[(String, String)]| -> HeaderList {
        let value = |name: &str, value: &str| {
            if is_sensitive_header(name) { MASK.to_owned() } else { redactor.redact(value).into_owned() }
        };
        fields.iter().map(|(name, text)| (name.clone(), value(name, text))).collect()
    };
    let began = Duration::try_from_secs_f64(exchange.started_at - start).unwrap_or_default();
    HttpExchange {
        started_us: duration_micros(began),
        method: exchange.method.clone(),
        url: redactor.redact(&display_url(&exchange.url)).into_owned(),
        phases: exchange.phases,
        request_headers: fields(&exchange.request_headers),
        http_status: exchange.http_status,
        http_version: exchange.http_version.clone(),
        response_headers: fields(&exchange.response_headers),
        body_wire_bytes: exchange.wire_bytes,
        body_bytes: exchange.bytes,
        failure: if exchange.cancelled { Some(cancelled_failure()) } else { request_failure(exchange) },
        ..HttpExchange::default()
    }
}

fn cancelled_failure() -> Failure {
    Failure::new(Phase::Play, FailureKind::Cancelled, "the page gave it up")
}

fn blocked_failure() -> Failure {
    Failure::new(Phase::Play, FailureKind::Cancelled, "its host is blocked here")
}

fn is_third_party(page: Option<&Url>, url: &str) -> bool {
    let url = Url::parse(url).ok();
    page.zip(url.as_ref()).is_some_and(|(page, url)| !same_site(page, url))
}

/// Whether `url` is that of the icon that browsers ask for of their own accord.
pub(super) fn is_favicon(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.path() == "/favicon.ico")
}

/// Why an exchange came to nothing.
fn request_failure(exchange: &LoggedRequest) -> Option<Failure> {
    if exchange.cancelled || is_favicon(&exchange.url) {
        return None;
    }
    if let Some(cause) = &exchange.cause {
        return Some(cause.clone());
    }
    if let Some(error) = &exchange.error {
        let word = error.strip_prefix("net::").unwrap_or(error);
        return Some(Failure::new(Phase::Play, load_failure_kind(word), word.to_owned()));
    }
    (exchange.http_status >= 400)
        .then(|| Failure::new(Phase::FirstByte, FailureKind::HttpStatus, exchange.http_status.to_string()))
}

/// The header fields of an exchange as text; values that let somebody in are masked.
pub(super) fn header_text(exchange: &LoggedRequest, redactor: &Redactor) -> String {
    let lines = |fields: &[(String, String)]| {
        captures::header_lines(fields.iter().map(|(name, value)| (&**name, &**value)))
    };
    let text = format!(
        "{} {}\r\n{}\r\n{} {}\r\n{}",
        exchange.method,
        display_url(&exchange.url),
        lines(&exchange.request_headers),
        exchange.http_version,
        exchange.http_status,
        lines(&exchange.response_headers)
    );
    redactor.redact(&text).into_owned()
}
