//! Pictures of pages that drivers take none of: while a dialog is open, and while the page computes.

use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::bidi::{Bidi, bidi_address};
use super::session::Session;
use super::trouble::Trouble;

/// Bytes of a message with a picture in base64.
const LONGEST_MESSAGE: usize = 24 * 1024 * 1024;

/// What a browser that is asked behind a dialog may take beyond what its driver may.
const SLOWER: Duration = Duration::from_secs(5);

impl Session {
    /// A picture of what is seen of the page, as PNG. What its driver takes none of is asked of the browser itself,
    /// where that can be done.
    ///
    /// # Errors
    /// As of [`Self::call`].
    pub async fn screenshot(&self, until: Instant) -> Result<Vec<u8>, Trouble> {
        let trouble = match self.text("screenshot", until).await {
            Err(trouble @ (Trouble::Dialog(_) | Trouble::Late)) => trouble,
            taken => return decoded(&taken?),
        };
        // A driver says of a dialog at once that it is open; the browser is slower then.
        let more = if matches!(trouble, Trouble::Dialog(_)) { SLOWER } else { Duration::ZERO };
        let within = (until + more).saturating_duration_since(Instant::now());
        let text = match tokio::time::timeout(within, self.taken_past_driver(within)).await {
            Ok(Some(taken)) => taken.map_err(Trouble::Refused)?,
            _ => return Err(trouble),
        };
        decoded(&text)
    }

    /// In base64; `None` of a browser that cannot be asked so.
    async fn taken_past_driver(&self, within: Duration) -> Option<Result<String, String>> {
        let window = self.entered()?;
        if let Some(address) = bidi_address(self.client()) {
            return Some(by_bidi(address, &window, within).await);
        }
        Some(by_devtools(self.debugger()?, &window, within).await)
    }

    /// Where Chromium listens for those who speak its own protocol; one of another host does so there alone.
    fn debugger(&self) -> Option<SocketAddr> {
        let options = self.client().capabilities()?.get("goog:chromeOptions").filter(|_| self.is_here())?;
        let (host, port) = options["debuggerAddress"].as_str()?.rsplit_once(':')?;
        let ip = if host == "localhost" { "127.0.0.1" } else { host };
        Some(SocketAddr::new(ip.parse().ok()?, port.parse().ok()?))
    }
}

/// By `browsingContext.captureScreenshot` (W3C `WebDriver BiDi` 7.3.3.2), which does not ask for dialogs.
async fn by_bidi(address: &str, window: &str, within: Duration) -> Result<String, String> {
    let mut bidi = Bidi::connect(address, within, LONGEST_MESSAGE).await?;
    bidi.send("browsingContext.captureScreenshot", json!({ "context": window })).await?;
    text(bidi.answer().await?["data"].take())
}

/// By the first frame of `Page.startScreencast`, the one command that shows what was painted last, and does not wait
/// for the page to paint.
async fn by_devtools(debugger: SocketAddr, window: &str, within: Duration) -> Result<String, String> {
    let address = format!("ws://{debugger}/devtools/page/{window}");
    let mut devtools = Bidi::connect(&address, within, LONGEST_MESSAGE).await?;
    // The page itself may never answer this one.
    devtools.send("Page.enable", json!({})).await?;
    devtools.send("Page.startScreencast", json!({ "format": "png" })).await?;
    while let Some(mut message) = devtools.next().await {
        if message["method"] == "Page.screencastFrame" {
            return text(message["params"]["data"].take());
        }
    }
    Err("the browser closed the connection".to_owned())
}

fn text(data: Value) -> Result<String, String> {
    match data {
        Value::String(text) => Ok(text),
        _ => Err("the browser gave no picture".to_owned()),
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, Trouble> {
    STANDARD.decode(text).map_err(|error| Trouble::Refused(format!("the picture cannot be decoded: {error}")))
}
