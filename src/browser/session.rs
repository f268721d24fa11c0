//! WebDriver commands to a browser (W3C WebDriver 2), each with a time limit.

use crate::sync::Mutex;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fantoccini::Client;
use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;
use url::Url;

use super::error::WebDriverError;

/// The key of an element reference (WebDriver 12.1).
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Limit of each further command while the driver is busy with an abandoned one: drivers run commands in order.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);
/// Limit for a driver of this host to respond at all.
const LIVENESS_TIMEOUT: Duration = Duration::from_secs(3);

/// An element of the current page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementRef(String);

impl ElementRef {
    /// Returns the element that `value`, the result of a script, refers to.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        value.get(ELEMENT_KEY)?.as_str().map(|id| Self(id.to_owned()))
    }

    /// Returns the reference as an argument of a script.
    #[must_use]
    pub fn to_argument(&self) -> Value {
        json!({ ELEMENT_KEY: self.0 })
    }
}

/// An open session with one browser. Every command has a deadline; an abandoned command may keep the driver busy.
#[derive(Debug)]
pub struct BrowserSession {
    client: Client,
    driver_timeouts: SessionTimeouts,
    /// The address of the driver, if it is local.
    driver_address: Option<SocketAddr>,
    /// Whether a command was abandoned that may still keep the driver busy.
    has_abandoned_command: AtomicBool,
    /// Handle of the window that was current last.
    last_window_handle: Mutex<Option<String>>,
}

/// The timeouts that were set in the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SessionTimeouts {
    page_load: Duration,
    script: Duration,
}

impl BrowserSession {
    /// Creates the session of `client`, whose driver waits `page_load_timeout` for a page to load; `driver_address`
    /// is its address if it is local.
    #[must_use]
    pub fn new(client: Client, page_load_timeout: Duration, driver_address: Option<SocketAddr>) -> Self {
        // Unknown until it is set once.
        let timeouts = SessionTimeouts { page_load: page_load_timeout, script: Duration::ZERO };
        Self {
            client,
            driver_timeouts: timeouts,
            driver_address,
            has_abandoned_command: AtomicBool::new(false),
            last_window_handle: Mutex::default(),
        }
    }

    /// Whether an abandoned command may keep the driver busy. Further commands get little time then.
    #[must_use]
    pub fn is_driver_busy(&self) -> bool {
        self.has_abandoned_command.load(Ordering::Relaxed)
    }

    /// Whether the driver responds to a new connection. A driver that waits for its browser, such as for a page that
    /// runs an endless loop, does; a driver that hangs does not. A remote driver counts as alive: nothing can test
    /// it.
    pub async fn is_driver_alive(&self) -> bool {
        let Some(driver_address) = self.driver_address else { return true };
        let request = async {
            let mut stream = TcpStream::connect(driver_address).await?;
            stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
            stream.read(&mut [0; 16]).await
        };
        matches!(tokio::time::timeout(LIVENESS_TIMEOUT, request).await, Ok(Ok(read)) if read > 0)
    }

    /// Returns the WebDriver client.
    #[must_use]
    pub const fn webdriver_client(&self) -> &Client {
        &self.client
    }

    /// Sends the command `method` `path`, relative to the session's URL, and returns its response.
    ///
    /// # Errors
    /// Fails with the driver's error, or with [`WebDriverError::TimedOut`] without a response in time.
    pub async fn send_command(
        &self,
        method: Method,
        path: impl Into<String>,
        body: Option<Value>,
        deadline: Instant,
    ) -> Result<Value, WebDriverError> {
        let command = WebDriverCommand { method, path: path.into(), body };
        let response =
            tokio::time::timeout_at(self.effective_deadline(deadline), self.client.issue_cmd(command)).await;
        self.has_abandoned_command.store(response.is_err(), Ordering::Relaxed);
        response.map_or(Err(WebDriverError::TimedOut), |response| {
            response.map_err(WebDriverError::from_command_error)
        })
    }

    /// Whether the driver is local.
    pub(super) const fn is_local(&self) -> bool {
        self.driver_address.is_some()
    }

    /// Returns the last current window, if it is known.
    pub(super) fn last_window_handle(&self) -> Option<String> {
        self.last_window_handle.lock().clone()
    }

    /// Stores the handle for [`Self::last_window_handle`]; sends no command.
    fn remember_current_window(&self, window: &str) {
        *self.last_window_handle.lock() = Some(window.to_owned());
    }

    /// Returns the deadline of a response: `deadline`, or earlier while the driver is busy.
    fn effective_deadline(&self, deadline: Instant) -> Instant {
        if self.is_driver_busy() { deadline.min(Instant::now() + BUSY_TIMEOUT) } else { deadline }
    }

    async fn get(&self, path: &str, deadline: Instant) -> Result<Value, WebDriverError> {
        self.send_command(Method::GET, path, None, deadline).await
    }

    async fn post(&self, path: &str, body: Value, deadline: Instant) -> Result<Value, WebDriverError> {
        self.send_command(Method::POST, path, Some(body), deadline).await
    }

    /// Sends a GET command whose response must be a text.
    pub(super) async fn get_text(&self, path: &str, deadline: Instant) -> Result<String, WebDriverError> {
        let response = self.get(path, deadline).await?;
        response
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| WebDriverError::Other(format!("`{path}` returned no text")))
    }

    /// Sets how long the driver waits for a page to load, and for scripts.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn set_timeouts(
        &mut self,
        page_load: Duration,
        script: Duration,
        deadline: Instant,
    ) -> Result<(), WebDriverError> {
        let timeouts = SessionTimeouts { page_load, script };
        if timeouts == self.driver_timeouts {
            return Ok(());
        }
        let body = json!({ "pageLoad": millis(page_load), "script": millis(script), "implicit": 0 });
        self.post("timeouts", body, deadline).await?;
        self.driver_timeouts = timeouts;
        Ok(())
    }

    /// Navigates to `url`, and waits until it is loaded.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`], also with [`WebDriverError::PageTimedOut`] and [`WebDriverError::ErrorPage`].
    pub async fn navigate(&self, url: &str, deadline: Instant) -> Result<(), WebDriverError> {
        self.post("url", json!({ "url": url }), deadline).await.map(drop)
    }

    /// Runs `script` as the body of a function in the current page, and returns its result; waits for promises.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`], and with [`WebDriverError::JavaScript`] when it throws.
    pub async fn execute_script(
        &self,
        script: &str,
        arguments: Vec<Value>,
        deadline: Instant,
    ) -> Result<Value, WebDriverError> {
        self.post("execute/sync", json!({ "script": script, "args": arguments }), deadline).await
    }

    /// Clicks `element` like a user: it must be visible and not covered.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn click(&self, element: &ElementRef, deadline: Instant) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/click", element.0), json!({}), deadline).await.map(drop)
    }

    /// Clears a field.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn clear_field(&self, element: &ElementRef, deadline: Instant) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/clear", element.0), json!({}), deadline).await.map(drop)
    }

    /// Types `text` into `element`; characters of the private use area stand for keys (WebDriver 17.4.2).
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn type_into(
        &self,
        element: &ElementRef,
        text: &str,
        deadline: Instant,
    ) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/value", element.0), json!({ "text": text }), deadline).await.map(drop)
    }

    /// Returns the visible text of `element`.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn element_text(
        &self,
        element: &ElementRef,
        deadline: Instant,
    ) -> Result<String, WebDriverError> {
        self.get_text(&format!("element/{}/text", element.0), deadline).await
    }

    /// Performs input actions (WebDriver 15.7), a list of sources.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn perform_input_actions(
        &self,
        sources: Value,
        deadline: Instant,
    ) -> Result<(), WebDriverError> {
        self.post("actions", json!({ "actions": sources }), deadline).await.map(drop)
    }

    /// Switches to the frame given by an element or an index, or with `null` to the top-level page.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn switch_to_frame(&self, frame: Value, deadline: Instant) -> Result<(), WebDriverError> {
        self.post("frame", json!({ "id": frame }), deadline).await.map(drop)
    }

    /// Switches to the parent frame.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn switch_to_parent_frame(&self, deadline: Instant) -> Result<(), WebDriverError> {
        self.post("frame/parent", json!({}), deadline).await.map(drop)
    }

    /// Returns the current window.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn current_window_handle(&self, deadline: Instant) -> Result<String, WebDriverError> {
        let window = self.get_text("window", deadline).await?;
        self.remember_current_window(&window);
        Ok(window)
    }

    /// Returns all windows.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn window_handles(&self, deadline: Instant) -> Result<Vec<String>, WebDriverError> {
        let response = self.get("window/handles", deadline).await?;
        let handles = response.as_array().into_iter().flatten();
        Ok(handles.filter_map(|handle| handle.as_str().map(str::to_owned)).collect())
    }

    /// Switches to `window`.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn switch_to_window(&self, window: &str, deadline: Instant) -> Result<(), WebDriverError> {
        self.post("window", json!({ "handle": window }), deadline).await?;
        self.remember_current_window(window);
        Ok(())
    }

    /// Closes the current window; the caller must switch to another one then.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn close_window(&self, deadline: Instant) -> Result<(), WebDriverError> {
        self.send_command(Method::DELETE, "window", None, deadline).await.map(drop)
    }

    /// Returns the text of the open dialog; `None` without a dialog.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn dialog_text(&self, deadline: Instant) -> Result<Option<String>, WebDriverError> {
        match self.get_text("alert/text", deadline).await {
            Ok(text) => Ok(Some(text)),
            Err(WebDriverError::NoDialog) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Accepts or dismisses the open dialog, after entering `text` if given.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`], and with [`WebDriverError::NoDialog`] without a dialog.
    pub async fn close_dialog(
        &self,
        accept: bool,
        text: Option<&str>,
        deadline: Instant,
    ) -> Result<(), WebDriverError> {
        if let Some(text) = text {
            self.post("alert/text", json!({ "text": text }), deadline).await?;
        }
        let path = if accept { "alert/accept" } else { "alert/dismiss" };
        self.post(path, json!({}), deadline).await.map(drop)
    }

    /// Ends the session, and with it the browser.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn close_session(self, deadline: Instant) -> Result<(), WebDriverError> {
        let deadline = self.effective_deadline(deadline);
        match tokio::time::timeout_at(deadline, self.client.close()).await {
            Ok(closed) => closed.map_err(WebDriverError::from_command_error),
            Err(_) => Err(WebDriverError::TimedOut),
        }
    }

    /// Returns the entries of a log of Chromium's driver since the last call.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn fetch_driver_log(&self, log_type: &str, deadline: Instant) -> Result<Value, WebDriverError> {
        self.post("se/log", json!({ "type": log_type }), deadline).await
    }

    /// Runs a command of the `DevTools` protocol through Chromium's driver.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn execute_cdp(
        &self,
        command: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, WebDriverError> {
        self.post("goog/cdp/execute", json!({ "cmd": command, "params": params }), deadline).await
    }
}

/// Returns whole milliseconds, at least 1.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// A command given by its path relative to the session.
#[derive(Debug)]
struct WebDriverCommand {
    method: Method,
    path: String,
    body: Option<Value>,
}

impl WebDriverCompatibleCommand for WebDriverCommand {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (self.method.clone(), self.body.as_ref().map(Value::to_string))
    }
}
