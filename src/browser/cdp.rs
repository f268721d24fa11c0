//! Driver commands beyond WebDriver.

use fantoccini::Client;
use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command of the `DevTools` protocol, which chromedriver sends to the page of the current window.
#[derive(Clone, Debug)]
pub struct CdpCommand {
    command: &'static str,
    parameters: Value,
}

impl CdpCommand {
    /// Creates the command of this name, such as `Network.enable`.
    #[must_use]
    pub const fn new(command: &'static str, parameters: Value) -> Self {
        Self { command, parameters }
    }

    /// Sends the command and returns its result. The caller bounds the time.
    ///
    /// # Errors
    /// Fails with the driver's error.
    pub async fn send(self, client: &Client) -> Result<Value, CmdError> {
        client.issue_cmd(self).await
    }
}

impl WebDriverCompatibleCommand for CdpCommand {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!("session/{}/goog/cdp/execute", session_id.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        let body = json!({ "cmd": self.command, "params": self.parameters });
        (Method::POST, Some(body.to_string()))
    }
}
