//! The capabilities of a session.

use std::net::SocketAddr;

use fantoccini::wd::Capabilities;

use super::chrome::{self, LocalBrowser};
use super::session_options::{BrowserKind, SessionOptions};
use super::{firefox, remote};

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
        BrowserKind::InternetExplorer => remote::internet_explorer_capabilities(options, proxy_address),
    }
}
