//! The facts about a browser.

use std::time::Duration;

use fantoccini::Client;
use serde_json::Value;

use super::session_options::{BrowserKind, SessionOptions};
use crate::domain::BrowserFacts;

/// Time limit of the query for the user agent.
const USER_AGENT_QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the facts that the driver reports about itself and the browser.
pub(super) async fn browser_facts(client: &Client, options: &SessionOptions) -> BrowserFacts {
    let capabilities = client.capabilities();
    // This is information only; the check continues without it.
    let user_agent = client.execute("return navigator.userAgent", Vec::new());
    let user_agent =
        tokio::time::timeout(USER_AGENT_QUERY_TIMEOUT, user_agent).await.ok().and_then(Result::ok);
    let capability = |name: &str| {
        capabilities
            .and_then(|capabilities| capabilities.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let driver_name_and_version = match options.browser_kind {
        BrowserKind::Chrome => {
            let chromedriver_version = capabilities
                .and_then(|capabilities| capabilities.get("chrome")?.get("chromedriverVersion")?.as_str());
            format!(
                "chromedriver {}",
                chromedriver_version.unwrap_or_default().split(' ').next().unwrap_or_default()
            )
        }
        BrowserKind::Firefox => format!("geckodriver {}", capability("moz:geckodriverVersion")),
        BrowserKind::InternetExplorer => String::new(),
    };
    BrowserFacts {
        name: options.browser_kind.name().to_owned(),
        version: capability("browserVersion").to_owned(),
        driver_name_and_version: driver_name_and_version.trim().to_owned(),
        user_agent: user_agent.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
        viewport: options.emulation.viewport,
        emulated_device: String::new(),
        trace_id: options.trace_id.map(|id| id.to_string()),
        peak_memory_bytes: None,
    }
}
