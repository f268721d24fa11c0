//! The capabilities of a session.

use std::net::SocketAddr;

use fantoccini::wd::Capabilities;
use serde_json::json;

use super::chrome::{self, LocalBrowser};
use super::session_options::{BrowserKind, SessionOptions};
use super::{firefox, tls_policy};

/// Returns the capabilities of a session that uses the proxy at `proxy_address`; `local_browser` is set for a browser
/// whose programs and profile are known.
pub(super) fn session_capabilities(
    options: &SessionOptions,
    proxy_address: SocketAddr,
    local_browser: Option<&LocalBrowser>,
) -> Capabilities {
    match options.browser_kind {
        BrowserKind::Chrome => chrome::session_capabilities(options, proxy_address, local_browser),
        BrowserKind::Firefox => {
            let browser_path = local_browser.map(|local_browser| local_browser.browser_path.as_path());
            firefox::session_capabilities(options, proxy_address, browser_path)
        }
        BrowserKind::InternetExplorer => internet_explorer_capabilities(options, proxy_address),
    }
}

/// Returns the capabilities of a session with Internet Explorer. It supports neither a user agent nor a page size.
fn internet_explorer_capabilities(session_options: &SessionOptions, proxy: SocketAddr) -> Capabilities {
    let mut capabilities = Capabilities::new();
    capabilities.insert("browserName".into(), json!("internet explorer"));
    capabilities
        .insert("acceptInsecureCerts".into(), json!(tls_policy::accepts_any_certificate(session_options)));
    capabilities.insert("pageLoadStrategy".into(), json!("normal"));
    capabilities.insert("unhandledPromptBehavior".into(), json!("ignore"));
    let proxy = proxy.to_string();
    capabilities
        .insert("proxy".into(), json!({ "proxyType": "manual", "httpProxy": proxy, "sslProxy": proxy }));
    let ie_options = json!({ "ie.ensureCleanSession": true, "ie.usePerProcessProxy": true });
    capabilities.insert("se:ieOptions".into(), ie_options);
    capabilities
}
