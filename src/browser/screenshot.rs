//! Screenshots, also when the driver cannot take them: while a dialog is open, and while the page is busy.

use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::bidi::{BidiConnection, bidi_url};
use super::error::WebDriverError;
use super::session::BrowserSession;

/// Longest message with a screenshot in base64, in bytes.
const MAX_MESSAGE_BYTES: usize = 24 * 1024 * 1024;

/// Time that the browser itself has for a screenshot at least, after the driver took none: it is slower while a dialog
/// is open, and the driver may have used all the time of the caller.
const BROWSER_MIN_TIME: Duration = Duration::from_secs(5);

impl BrowserSession {
    /// Takes a screenshot of the visible page, as PNG. If the driver fails, asks the browser itself where possible, for
    /// up to 5 s after the deadline.
    ///
    /// # Errors
    /// Fails like [`Self::send_command`].
    pub async fn screenshot(&self, deadline: Instant) -> Result<Vec<u8>, WebDriverError> {
        let error = match self.get_text("screenshot", deadline).await {
            Err(error @ (WebDriverError::DialogOpen(_) | WebDriverError::TimedOut)) => error,
            captured => return decode_base64(&captured?),
        };
        let timeout = deadline.saturating_duration_since(Instant::now()).max(BROWSER_MIN_TIME);
        let text = match tokio::time::timeout(timeout, self.screenshot_without_driver(timeout)).await {
            Ok(Some(captured)) => captured.map_err(WebDriverError::Other)?,
            _ => return Err(error),
        };
        decode_base64(&text)
    }

    /// Takes a screenshot in base64 without the driver; `None` when the browser does not support it.
    async fn screenshot_without_driver(&self, timeout: Duration) -> Option<Result<String, String>> {
        let window = self.last_window_handle()?;
        if let Some(address) = bidi_url(self.webdriver_client()) {
            return Some(capture_by_bidi(address, &window, timeout).await);
        }
        Some(capture_by_devtools(self.local_devtools_address()?, &window, timeout).await)
    }

    /// Returns the `DevTools` address of Chromium. That of a remote browser is only reachable on its own host.
    fn local_devtools_address(&self) -> Option<SocketAddr> {
        let options =
            self.webdriver_client().capabilities()?.get("goog:chromeOptions").filter(|_| self.is_local())?;
        let (host, port) = options["debuggerAddress"].as_str()?.rsplit_once(':')?;
        let ip = if host == "localhost" { "127.0.0.1" } else { host };
        Some(SocketAddr::new(ip.parse().ok()?, port.parse().ok()?))
    }
}

/// Captures by `browsingContext.captureScreenshot` (W3C `WebDriver BiDi` 7.3.3.2), which works with open dialogs.
async fn capture_by_bidi(address: &str, window: &str, timeout: Duration) -> Result<String, String> {
    let mut bidi = BidiConnection::connect(address, timeout, MAX_MESSAGE_BYTES).await?;
    bidi.send_command("browsingContext.captureScreenshot", json!({ "context": window })).await?;
    screenshot_base64(bidi.wait_for_response().await?["data"].take())
}

/// Captures the first frame of `Page.startScreencast`, the only command that returns what was painted last, without
/// waiting for the page to paint.
async fn capture_by_devtools(
    devtools_address: SocketAddr,
    window: &str,
    timeout: Duration,
) -> Result<String, String> {
    let address = format!("ws://{devtools_address}/devtools/page/{window}");
    let mut devtools = BidiConnection::connect(&address, timeout, MAX_MESSAGE_BYTES).await?;
    // The page itself may never respond to this command.
    devtools.send_command("Page.enable", json!({})).await?;
    devtools.send_command("Page.startScreencast", json!({ "format": "png" })).await?;
    while let Some(mut message) = devtools.next_message().await {
        if message["method"] == "Page.screencastFrame" {
            return screenshot_base64(message["params"]["data"].take());
        }
    }
    Err("the browser closed the connection".to_owned())
}

fn screenshot_base64(data: Value) -> Result<String, String> {
    match data {
        Value::String(text) => Ok(text),
        _ => Err("the browser returned no screenshot".to_owned()),
    }
}

fn decode_base64(text: &str) -> Result<Vec<u8>, WebDriverError> {
    STANDARD
        .decode(text)
        .map_err(|error| WebDriverError::Other(format!("the screenshot cannot be decoded: {error}")))
}
