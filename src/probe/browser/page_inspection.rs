//! Inspects a loaded page: its status, its timings, and whether it is an error page.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use super::action_error::{ActionError, action_error};
use super::dom;
use super::load_error::{CRASHED_TAB_URL, display_url, error_page_prefix, without_fragment};
use super::options::UserExperience;
use super::script_browser::ScriptBrowser;
use super::time_budget::TimeBudget;
use crate::browser::{BrowserSession, WebDriverError};
use crate::domain::{Failure, FailureKind, PageTiming, Phase, Phases, duration_micros};

/// How long a page may take to be inspected beside the limits of the step.
pub(super) const INSPECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// The body of the function that inspects the page.
const INSPECT_SCRIPT: &str = include_str!("inspect.js");

/// The result of `inspect.js`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PageReport {
    pub(super) url: String,
    /// The address that the document was loaded from: `history.pushState` changes the other one.
    #[serde(rename = "document")]
    pub(super) document_url: String,
    pub(super) title: String,
    #[serde(rename = "status")]
    pub(super) http_status: u16,
    /// `performance.timeOrigin`, as text: identifies the document.
    #[serde(rename = "origin")]
    pub(super) time_origin: String,
    #[serde(rename = "times")]
    navigation: NavigationTiming,
    paint: PaintTiming,
    #[serde(rename = "largest")]
    largest_contentful_paint: Option<f64>,
    #[serde(rename = "shift")]
    layout_shift: Option<f64>,
    pub(super) viewport: (u32, u32),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NavigationTiming {
    domain_lookup_start: f64,
    domain_lookup_end: f64,
    connect_start: f64,
    secure_connection_start: f64,
    connect_end: f64,
    request_start: f64,
    response_start: f64,
    response_end: f64,
    dom_content_loaded_event_end: f64,
    load_event_end: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct PaintTiming {
    first_paint: Option<f64>,
    first_contentful_paint: Option<f64>,
}

impl PageReport {
    /// Returns the measured timings. Values that the browser does not measure are 0 in the report.
    pub(super) fn page_timing(&self, with_user_experience: bool) -> PageTiming {
        let navigation = &self.navigation;
        let mut phases = Phases::default();
        let mut set_phase = |phase, from: f64, to: f64| {
            if to > from && from >= 0.0 {
                phases.set(phase, millis(to - from));
            }
        };
        let tls = navigation.secure_connection_start;
        set_phase(Phase::Resolve, navigation.domain_lookup_start, navigation.domain_lookup_end);
        set_phase(
            Phase::Connect,
            navigation.connect_start,
            if tls > 0.0 { tls } else { navigation.connect_end },
        );
        set_phase(Phase::Tls, if tls > 0.0 { tls } else { navigation.connect_end }, navigation.connect_end);
        set_phase(Phase::FirstByte, navigation.request_start, navigation.response_start);
        set_phase(Phase::Transfer, navigation.response_start, navigation.response_end);
        set_phase(Phase::FirstPaint, 0.0, self.paint.first_paint.unwrap_or_default());
        set_phase(Phase::DomLoad, 0.0, navigation.dom_content_loaded_event_end);
        set_phase(Phase::PageLoad, 0.0, navigation.load_event_end);
        let measured = |time: Option<f64>| {
            time.filter(|_| with_user_experience).map(|time| duration_micros(millis(time)))
        };
        PageTiming {
            phases,
            first_contentful_paint_us: measured(self.paint.first_contentful_paint),
            largest_contentful_paint_us: measured(self.largest_contentful_paint),
            cumulative_layout_shift: self.layout_shift.filter(|_| with_user_experience),
        }
    }
}

fn millis(time: f64) -> Duration {
    Duration::try_from_secs_f64(time / 1000.0).unwrap_or_default()
}

/// Inspects the page that was navigated to. Fails when its HTTP status is an error (status 7), or when it is
/// not a page of the site.
pub(super) async fn check_opened_page(
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    response_deadline: Instant,
) -> Result<(), ActionError> {
    let report = inspect_current_page(
        &browser.session,
        UserExperience::Off,
        response_deadline.max(Instant::now() + INSPECTION_TIMEOUT),
    )
    .await;
    let report =
        report.map_err(|error| action_error(browser, budget, error, budget.page_load_limit_kind()))?;
    if error_page_prefix(&report.url).is_none()
        && without_fragment(&report.url) != without_fragment(&browser.last_navigated_url)
    {
        reject_download_or_empty(browser, false).await?;
    }
    Ok(check_page_status(browser, &report).await?)
}

/// Fails when the navigation led to no page: a browser that shows another page than requested was redirected, or stayed
/// on the old page since the response was no page. After a timeout, how the request ended is not considered.
pub(super) async fn reject_download_or_empty(
    browser: &ScriptBrowser<'_>,
    page_load_timed_out: bool,
) -> Result<(), Failure> {
    browser.fetch_logged_requests(dom::query_deadline()).await;
    let network_log = browser.network_log_reader.lock_log();
    let Some(document) = network_log.last_page_document() else { return Ok(()) };
    let is_attachment = document.response_headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("content-disposition") && value.trim_start().starts_with("attachment")
    });
    let reason = match document.http_status {
        204 | 205 => "it has no content",
        _ if is_attachment
            || !page_load_timed_out && (document.cancelled || document.error_name.is_some()) =>
        {
            "it is a download, and those are refused"
        }
        _ => return Ok(()),
    };
    let detail = format!("`{}`: {reason}", display_url(&document.url));
    Err(Failure::new(Phase::RunScript, FailureKind::ResponseNotAPage, detail))
}

/// Replaces the failure of an action if the browser shows an error page or the driver stopped responding.
pub(super) async fn replace_with_page_failure(browser: &mut ScriptBrowser<'_>, failure: Failure) -> Failure {
    use FailureKind as Kind;
    let new_failure = |kind, detail: String| Failure::new(Phase::RunScript, kind, detail);
    if browser.session.is_driver_busy() {
        let timeout_kinds = [Kind::StepTimedOut, Kind::PageTooSlow, Kind::TransactionTimedOut];
        if timeout_kinds.contains(&failure.kind) && !browser.session.is_driver_alive().await {
            let detail = format!("{}; the driver stopped responding", failure.detail);
            return new_failure(Kind::BrowserTimedOut, detail);
        }
        return failure;
    }
    let page_dependent_kinds = [
        Kind::ElementMissing,
        Kind::ElementAmbiguous,
        Kind::AssertionFailed,
        Kind::VariableNotExtracted,
        Kind::ExpectedEventMissing,
        Kind::LocationChangeMissing,
        Kind::PageUpdateMissing,
    ];
    if !page_dependent_kinds.contains(&failure.kind) {
        return failure;
    }
    match inspect_top_page(browser, UserExperience::Off, Instant::now() + INSPECTION_TIMEOUT).await {
        Ok(report) => check_page_status(browser, &report).await.err().unwrap_or(failure),
        Err(WebDriverError::SessionLost(reason)) => new_failure(Kind::BrowserFailed, reason),
        Err(_) => failure,
    }
}

/// Returns the browser's name for the cause of its error page. An error page does not name its address, so that of the
/// last requested document is used, and recorded as `last_navigated_url`.
async fn resolve_error_page_cause(browser: &mut ScriptBrowser<'_>) -> Option<String> {
    browser.fetch_logged_requests(dom::query_deadline()).await;
    let document = browser
        .network_log_reader
        .lock_log()
        .last_page_document()
        .map(|document| (document.url.clone(), document.error_name.clone()));
    let (url, error) = document?;
    browser.last_navigated_url = url;
    error.map(|error| error.strip_prefix("net::").map(str::to_owned).unwrap_or(error))
}

/// Inspects the top-level page of the window, whatever frame the script is in.
pub(super) async fn inspect_top_page(
    browser: &ScriptBrowser<'_>,
    experience: UserExperience,
    deadline: Instant,
) -> Result<PageReport, WebDriverError> {
    if !browser.entered_frames.is_empty() {
        browser.session.switch_to_frame(serde_json::Value::Null, deadline).await?;
    }
    let report = inspect_current_page(&browser.session, experience, deadline).await;
    for frame in &browser.entered_frames {
        // A frame that no longer exists is reported by the next action that uses it.
        if browser.session.switch_to_frame(frame.clone(), dom::query_deadline()).await.is_err() {
            break;
        }
    }
    report
}

async fn inspect_current_page(
    session: &BrowserSession,
    experience: UserExperience,
    deadline: Instant,
) -> Result<PageReport, WebDriverError> {
    loop {
        match session.execute_script(INSPECT_SCRIPT, vec![experience.to_argument()], deadline).await {
            Ok(serde_json::Value::Null) => match session.dialog_text(deadline).await? {
                Some(text) => return Err(WebDriverError::DialogOpen(text)),
                None if Instant::now() < deadline => dom::wait_before_retry().await,
                None => return Err(WebDriverError::TimedOut),
            },
            Ok(response) => {
                return serde_json::from_value(response)
                    .map_err(|error| WebDriverError::Other(format!("the page report is invalid: {error}")));
            }
            Err(WebDriverError::PageUnloaded | WebDriverError::StaleElement) if Instant::now() < deadline => {
                dom::wait_before_retry().await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Fails when the inspected page is an error page of the browser, or its HTTP status is an error.
pub(super) async fn check_page_status(
    browser: &mut ScriptBrowser<'_>,
    report: &PageReport,
) -> Result<(), Failure> {
    match error_page_prefix(&report.url) {
        Some(CRASHED_TAB_URL) => {
            return Err(Failure::new(Phase::RunScript, FailureKind::BrowserFailed, "the tab crashed"));
        }
        Some(prefix) => {
            let cause = resolve_error_page_cause(browser).await;
            return Err(browser.error_page_failure(cause.as_deref().unwrap_or(prefix)));
        }
        None => {}
    }
    if report.http_status >= 400 {
        // Requests that our own proxy refused have a failure of their own.
        if let Some(failure) = browser.proxy_failure(&report.url) {
            return Err(failure);
        }
        let detail = format!("`{}` responded with {}", display_url(&report.url), report.http_status);
        return Err(Failure::new(Phase::RunScript, FailureKind::HttpErrorStatus, detail));
    }
    Ok(())
}
