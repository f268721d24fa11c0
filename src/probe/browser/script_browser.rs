//! The browser that a script drives, with its current window and frame.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::dom;
use super::load_error::{display_url, load_error_to_failure_kind};
use super::network_log_reader::NetworkLogReader;
use super::time_budget::TimeBudget;
use crate::browser::{BrowserPool, BrowserSession, RESOURCE_TIMING_SCRIPT, SessionOptions, WebDriverError};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::PatternCache;
use crate::forward_proxy::ForwardProxy;

/// The session of the browser, with its current window and frame.
pub(super) struct ScriptBrowser<'a> {
    pub(super) session: BrowserSession,
    /// The browser's log of its requests and its console.
    pub(super) network_log_reader: NetworkLogReader<'a>,
    /// The pool that the browser comes from.
    browser_pool: &'a BrowserPool,
    session_options: &'a SessionOptions,
    /// The forward proxy that the browser uses.
    forward_proxy: &'a ForwardProxy,
    /// Compiled patterns of the account.
    pub(super) patterns: &'a Arc<PatternCache>,
    /// Handles of the windows in the order in which they were first listed; the first is the main window.
    pub(super) window_handles: Vec<String>,
    /// Handles of the windows whose per-window settings were applied.
    prepared_windows: Vec<String>,
    /// Whether the current window is new, so that its first requests may be missing from the log.
    may_have_unlogged_requests: bool,
    /// Frames that were entered, outermost first.
    pub(super) entered_frames: Vec<Value>,
    /// Start of the document that was inspected last, by the browser's clock: identifies the document.
    pub(super) inspected_document_id: String,
    /// The size of the page's viewport, once known.
    pub(super) viewport: Option<(u32, u32)>,
    /// The address that was last navigated to.
    pub(super) last_navigated_url: String,
}

impl<'a> ScriptBrowser<'a> {
    /// Creates the context of a new `session`.
    pub(super) const fn new(
        session: BrowserSession,
        network_log_reader: NetworkLogReader<'a>,
        browser_pool: &'a BrowserPool,
        session_options: &'a SessionOptions,
        forward_proxy: &'a ForwardProxy,
        patterns: &'a Arc<PatternCache>,
    ) -> Self {
        Self {
            session,
            network_log_reader,
            browser_pool,
            session_options,
            forward_proxy,
            patterns,
            window_handles: Vec::new(),
            prepared_windows: Vec::new(),
            may_have_unlogged_requests: false,
            entered_frames: Vec::new(),
            inspected_document_id: String::new(),
            viewport: None,
            last_navigated_url: String::new(),
        }
    }

    /// Starts with the first window of the browser.
    pub(super) async fn enter_first_window(&mut self) -> Result<(), Failure> {
        let first = self.session.current_window_handle(dom::query_deadline()).await.map_err(|error| {
            let detail = format!("it has no window: {error}");
            Failure::new(Phase::Launch, FailureKind::BrowserFailed, detail)
        })?;
        self.window_handles = vec![first];
        self.prepared_windows.clone_from(&self.window_handles);
        Ok(())
    }

    /// Switches to `window_handle`, and prepares it when it is new.
    pub(super) async fn enter_window(
        &mut self,
        window_handle: String,
        deadline: Instant,
    ) -> Result<(), WebDriverError> {
        self.session.switch_to_window(&window_handle, deadline).await?;
        if !self.prepared_windows.contains(&window_handle) {
            self.prepared_windows.push(window_handle);
            self.may_have_unlogged_requests = true;
            // Emulated header fields are set per window; a window without them is still usable.
            let _ =
                self.browser_pool.prepare_window(self.session.webdriver_client(), self.session_options).await;
        }
        Ok(())
    }

    /// Waits until the driver has finished an abandoned command, as long as the step has time: it accepts no other
    /// until then.
    pub(super) async fn wait_until_driver_idle(&self, budget: &TimeBudget) {
        while self.session.is_driver_busy() && budget.exceeded_limit().is_none() {
            // Any response is enough.
            let _ = self.session.current_window_handle(dom::query_deadline()).await;
        }
    }

    /// Reads the requests since the last time into the log. Returns `false` when the driver did not respond before
    /// `deadline`.
    pub(super) async fn fetch_logged_requests(&self, deadline: Instant) -> bool {
        self.network_log_reader.fetch_logged_requests(&self.session, deadline).await
    }

    /// Adds to the log the requests that a new window made before Chromium's driver attached to it.
    pub(super) async fn record_requests_before_attach(&mut self, budget: &TimeBudget) {
        if !std::mem::take(&mut self.may_have_unlogged_requests) || !self.network_log_reader.must_be_fetched()
        {
            return;
        }
        // Read the log first: requests that are in it are then not added again.
        self.fetch_logged_requests(budget.action_wait_limit(None, None).response_deadline).await;
        if let Ok(resource_timing) =
            self.session.execute_script(RESOURCE_TIMING_SCRIPT, Vec::new(), dom::query_deadline()).await
        {
            self.network_log_reader.lock_log().add_resource_timing(&resource_timing);
        }
    }

    /// Dismisses a dialog that the script does not handle, so that the page can be inspected, and returns the failure.
    pub(super) async fn dismiss_unexpected_dialog(&self, action_name: &str, dialog_text: &str) -> Failure {
        let deadline = dom::query_deadline();
        // Firefox may report a dialog before it knows its text.
        let reread_text = if dialog_text.is_empty() {
            self.session.dialog_text(deadline).await.ok().flatten()
        } else {
            None
        };
        // Three at most: a page can open dialogs without end.
        for _ in 0..3 {
            if self.session.close_dialog(false, None, deadline).await.is_err() {
                break;
            }
        }
        let dialog_text: String = reread_text.as_deref().unwrap_or(dialog_text).chars().take(200).collect();
        Failure::new(
            Phase::RunScript,
            FailureKind::UnexpectedDialog,
            format!("{action_name}: it says `{dialog_text}`"),
        )
    }

    /// Records that the page at `url` is being opened, outside of all frames.
    pub(super) fn record_navigation(&mut self, url: &str) {
        self.entered_frames.clear();
        url.clone_into(&mut self.last_navigated_url);
    }

    /// Sets the site whose requests carry the trace id.
    pub(super) fn set_trace_site(&self, site: &str) {
        self.forward_proxy.set_trace_site(site);
    }

    /// Whether the settings forbid the browser to reach the host of `url`.
    pub(super) fn is_host_denied(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        let host_and_port = url.host_str().zip(url.port_or_known_default());
        host_and_port.is_some_and(|(host, port)| self.forward_proxy.is_denied(host, port))
    }

    /// Returns why Vigie's own proxy could not reach the host of `url`.
    pub(super) fn proxy_failure(&self, url: &str) -> Option<Failure> {
        let url = Url::parse(url).ok()?;
        let failure = self.forward_proxy.last_failure(url.host_str()?, url.port_or_known_default()?)?;
        Some(Failure { phase: Phase::RunScript, ..failure })
    }

    /// Returns the failure of an error page of the browser: the error that Vigie's own proxy recorded, otherwise the
    /// browser's name for it.
    pub(super) fn error_page_failure(&self, error_name: &str) -> Failure {
        if let Some(failure) = self.proxy_failure(&self.last_navigated_url) {
            return failure;
        }
        Failure::new(
            Phase::RunScript,
            load_error_to_failure_kind(error_name),
            format!("`{}`: {error_name}", display_url(&self.last_navigated_url)),
        )
    }
}
