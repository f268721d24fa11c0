//! Commands to a browser over WebDriver (W3C WebDriver 2), each bounded in time.

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

/// The key of an element's reference (WebDriver 12.1).
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What a driver gets for anything else once it left a command unanswered: it does one after the other.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);
/// What a driver of this host may take to say anything at all.
const LIVENESS_TIMEOUT: Duration = Duration::from_secs(3);

/// An element of the page that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementRef(String);

impl ElementRef {
    /// The element that `value`, an answer of a script, refers to.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        value.get(ELEMENT_KEY)?.as_str().map(|id| Self(id.to_owned()))
    }

    /// The argument of a script that stands for it.
    #[must_use]
    pub fn to_argument(&self) -> Value {
        json!({ ELEMENT_KEY: self.0 })
    }
}

/// An open session with one browser. Every command has an instant until which it is waited for; one that is
/// given up may still keep the driver busy.
#[derive(Debug)]
pub struct BrowserSession {
    client: Client,
    limits: SessionTimeouts,
    /// Where the driver listens, on this host.
    driver: Option<SocketAddr>,
    /// Whether a command was given up that may still keep the driver busy.
    busy: AtomicBool,
    /// The window that was looked at last.
    current_window: Mutex<Option<String>>,
}

/// What the driver was told to wait for pages and scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SessionTimeouts {
    page: Duration,
    script: Duration,
}

impl BrowserSession {
    /// The session of `client`, whose driver waits `page` for a page to be loaded; `driver` is where it listens when
    /// it is one of this host.
    #[must_use]
    pub fn new(client: Client, page: Duration, driver: Option<SocketAddr>) -> Self {
        // Not known before it was set once.
        let limits = SessionTimeouts { page, script: Duration::ZERO };
        Self { client, limits, driver, busy: AtomicBool::new(false), current_window: Mutex::default() }
    }

    /// Whether a command was given up that may still keep the driver busy: further ones get little time.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Whether the driver says anything at all to somebody who asks anew. One that waits for its browser, as for a page
    /// that never ends to compute, does; one that hangs does not. Of one on another host nothing is known, and
    /// it counts as alive.
    pub async fn is_alive(&self) -> bool {
        let Some(driver) = self.driver else { return true };
        let asked = async {
            let mut stream = TcpStream::connect(driver).await?;
            stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
            stream.read(&mut [0; 16]).await
        };
        matches!(tokio::time::timeout(LIVENESS_TIMEOUT, asked).await, Ok(Ok(read)) if read > 0)
    }

    /// Who speaks with the driver.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Sends the command `method` `path`, which is relative to the session's own, and waits for its answer.
    ///
    /// # Errors
    /// What the driver refused it with; [`WebDriverError::TimedOut`] when it did not answer in time.
    pub async fn send_command(
        &self,
        method: Method,
        path: impl Into<String>,
        body: Option<Value>,
        until: Instant,
    ) -> Result<Value, WebDriverError> {
        let command = WebDriverCommand { method, path: path.into(), body };
        let answer =
            tokio::time::timeout_at(self.effective_deadline(until), self.client.issue_cmd(command)).await;
        self.busy.store(answer.is_err(), Ordering::Relaxed);
        answer.map_or(Err(WebDriverError::TimedOut), |answer| {
            answer.map_err(WebDriverError::from_command_error)
        })
    }

    /// Whether the driver is one of this host.
    pub(super) const fn is_local(&self) -> bool {
        self.driver.is_some()
    }

    /// The window that was looked at last, as far as that is known.
    pub(super) fn known_window(&self) -> Option<String> {
        self.current_window.lock().clone()
    }

    fn set_current_window(&self, window: &str) {
        *self.current_window.lock() = Some(window.to_owned());
    }

    /// Until when an answer is waited for, `until` at the latest.
    fn effective_deadline(&self, until: Instant) -> Instant {
        if self.is_busy() { until.min(Instant::now() + BUSY_TIMEOUT) } else { until }
    }

    async fn get(&self, path: &str, until: Instant) -> Result<Value, WebDriverError> {
        self.send_command(Method::GET, path, None, until).await
    }

    async fn post(&self, path: &str, body: Value, until: Instant) -> Result<Value, WebDriverError> {
        self.send_command(Method::POST, path, Some(body), until).await
    }

    pub(super) async fn get_text(&self, path: &str, until: Instant) -> Result<String, WebDriverError> {
        let answer = self.get(path, until).await?;
        answer
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| WebDriverError::Refused(format!("`{path}` gave no text")))
    }

    /// Makes the driver wait at most `page` for a page to be loaded, and `script` for scripts.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn set_timeouts(
        &mut self,
        page: Duration,
        script: Duration,
        until: Instant,
    ) -> Result<(), WebDriverError> {
        let limits = SessionTimeouts { page, script };
        if limits == self.limits {
            return Ok(());
        }
        let body = json!({ "pageLoad": millis(page), "script": millis(script), "implicit": 0 });
        self.post("timeouts", body, until).await?;
        self.limits = limits;
        Ok(())
    }

    /// Goes to `url`, and waits until it is loaded.
    ///
    /// # Errors
    /// As of [`Self::send_command`]; [`WebDriverError::PageTimedOut`] and [`WebDriverError::ErrorPage`] among them.
    pub async fn navigate(&self, url: &str, until: Instant) -> Result<(), WebDriverError> {
        self.post("url", json!({ "url": url }), until).await.map(drop)
    }

    /// Runs `script` as the body of a function in the page that is looked at, and gives what it returns; a
    /// promise is waited for.
    ///
    /// # Errors
    /// As of [`Self::send_command`]; [`WebDriverError::JavaScript`] when it throws.
    pub async fn execute(
        &self,
        script: &str,
        arguments: Vec<Value>,
        until: Instant,
    ) -> Result<Value, WebDriverError> {
        self.post("execute/sync", json!({ "script": script, "args": arguments }), until).await
    }

    /// Clicks `element`, as a person would: it has to be seen, and nothing over it.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn click(&self, element: &ElementRef, until: Instant) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/click", element.0), json!({}), until).await.map(drop)
    }

    /// Empties a field.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn clear(&self, element: &ElementRef, until: Instant) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/clear", element.0), json!({}), until).await.map(drop)
    }

    /// Types `text` into `element`; characters of the private area stand for keys (WebDriver 17.4.2).
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn type_into(
        &self,
        element: &ElementRef,
        text: &str,
        until: Instant,
    ) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/value", element.0), json!({ "text": text }), until).await.map(drop)
    }

    /// The text of `element` as it is seen.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn element_text(&self, element: &ElementRef, until: Instant) -> Result<String, WebDriverError> {
        self.get_text(&format!("element/{}/text", element.0), until).await
    }

    /// Performs input actions (WebDriver 15.7), a list of sources.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn perform_actions(&self, sources: Value, until: Instant) -> Result<(), WebDriverError> {
        self.post("actions", json!({ "actions": sources }), until).await.map(drop)
    }

    /// Looks at a frame from now on: of an element, by its index, or the page itself with `null`.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn switch_to_frame(&self, frame: Value, until: Instant) -> Result<(), WebDriverError> {
        self.post("frame", json!({ "id": frame }), until).await.map(drop)
    }

    /// Looks at the frame around.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn switch_to_parent_frame(&self, until: Instant) -> Result<(), WebDriverError> {
        self.post("frame/parent", json!({}), until).await.map(drop)
    }

    /// The window that is looked at.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn window(&self, until: Instant) -> Result<String, WebDriverError> {
        let window = self.get_text("window", until).await?;
        self.set_current_window(&window);
        Ok(window)
    }

    /// Every window.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn windows(&self, until: Instant) -> Result<Vec<String>, WebDriverError> {
        let answer = self.get("window/handles", until).await?;
        let handles = answer.as_array().into_iter().flatten();
        Ok(handles.filter_map(|handle| handle.as_str().map(str::to_owned)).collect())
    }

    /// Looks at `window` from now on.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn switch_to_window(&self, window: &str, until: Instant) -> Result<(), WebDriverError> {
        self.post("window", json!({ "handle": window }), until).await?;
        self.set_current_window(window);
        Ok(())
    }

    /// Closes the window that is looked at; another one has to be entered then.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn close_window(&self, until: Instant) -> Result<(), WebDriverError> {
        self.send_command(Method::DELETE, "window", None, until).await.map(drop)
    }

    /// What the dialog that is open says; `None` when there is none.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn dialog_text(&self, until: Instant) -> Result<Option<String>, WebDriverError> {
        match self.get_text("alert/text", until).await {
            Ok(text) => Ok(Some(text)),
            Err(WebDriverError::NoDialog) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Answers the dialog that is open: with OK or without, and what is written into it before.
    ///
    /// # Errors
    /// As of [`Self::send_command`]; [`WebDriverError::NoDialog`] when there is none.
    pub async fn close_dialog(
        &self,
        ok: bool,
        text: Option<&str>,
        until: Instant,
    ) -> Result<(), WebDriverError> {
        if let Some(text) = text {
            self.post("alert/text", json!({ "text": text }), until).await?;
        }
        let path = if ok { "alert/accept" } else { "alert/dismiss" };
        self.post(path, json!({}), until).await.map(drop)
    }

    /// Ends the session, and with it the browser.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn close(self, until: Instant) -> Result<(), WebDriverError> {
        let until = self.effective_deadline(until);
        match tokio::time::timeout_at(until, self.client.close()).await {
            Ok(closed) => closed.map_err(WebDriverError::from_command_error),
            Err(_) => Err(WebDriverError::TimedOut),
        }
    }

    /// What a log of Chromium's driver holds since it was asked for last.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn fetch_log(&self, kind: &str, until: Instant) -> Result<Value, WebDriverError> {
        self.post("se/log", json!({ "type": kind }), until).await
    }

    /// A command of Chromium's own protocol, through its driver.
    ///
    /// # Errors
    /// As of [`Self::send_command`].
    pub async fn execute_cdp(
        &self,
        command: &str,
        params: Value,
        until: Instant,
    ) -> Result<Value, WebDriverError> {
        self.post("goog/cdp/execute", json!({ "cmd": command, "params": params }), until).await
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// A command that is told by its path below the session.
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
