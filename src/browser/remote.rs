//! Browsers at a WebDriver end point on another host, or in another unit on this one. They reach Vigie's forward proxy
//! over the network; the end point cleans up after them.

use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use serde_json::json;

use super::config::RemoteWebDriver;
use super::failure::launch_failure;
use super::session_options::{BrowserKind, SessionOptions};
use super::{chrome, failure, firefox};
use crate::domain::{Failure, FailureKind};
use crate::forward_proxy::ForwardProxy;
use crate::net::{ConnectTrace, Deadline, Endpoint, Net};
use crate::subprocess::bounded_connector::BoundedConnector;

/// Opens a session at `remote`, with a browser that uses `forward`.
///
/// # Errors
/// Fails with [`FailureKind::EgressDenied`] (95) when the egress policy of this location denies the end point, and
/// [`FailureKind::BrowserFailed`] (90) when it cannot be reached or refuses.
pub(super) async fn open(
    remote: &RemoteWebDriver,
    options: &SessionOptions,
    net: &Net,
    forward: &ForwardProxy,
    deadline: Deadline,
) -> Result<Client, Failure> {
    let host = remote.url.host_str().unwrap_or_default();
    let to = Endpoint::new(host, remote.url.port_or_known_default().unwrap_or(80));
    // The library gives no reason for a failed connection, and does not apply the egress policy.
    let reached = net.connect(&to, deadline, &mut ConnectTrace::default()).await;
    reached.map_err(|failure| {
        let denied = failure.kind == FailureKind::EgressDenied;
        let kind = if denied { FailureKind::EgressDenied } else { FailureKind::BrowserFailed };
        launch_failure(kind, format!("the end point of `browser.remote` at {to}: {failure}"))
    })?;
    let capabilities = match options.kind {
        BrowserKind::Chrome => chrome::capabilities(options, forward.address(), None),
        BrowserKind::Firefox => firefox::capabilities(options, forward.address(), None),
        BrowserKind::InternetExplorer => internet_explorer_capabilities(options, forward.address()),
    };
    let mut builder = ClientBuilder::new(BoundedConnector::new());
    let connecting = builder.capabilities(capabilities).connect(remote.url.as_str()).await;
    connecting.map_err(|error| failure::session_failure(&error, ""))
}

/// Returns the capabilities of a session with Internet Explorer. It supports neither a user agent nor a page size.
fn internet_explorer_capabilities(
    session_options: &SessionOptions,
    proxy: std::net::SocketAddr,
) -> Capabilities {
    let mut capabilities = Capabilities::new();
    capabilities.insert("browserName".into(), json!("internet explorer"));
    capabilities.insert(
        "acceptInsecureCerts".into(),
        json!(super::tls_policy::accepts_any_certificate(session_options)),
    );
    capabilities.insert("pageLoadStrategy".into(), json!("normal"));
    capabilities.insert("unhandledPromptBehavior".into(), json!("ignore"));
    let proxy = proxy.to_string();
    capabilities
        .insert("proxy".into(), json!({ "proxyType": "manual", "httpProxy": proxy, "sslProxy": proxy }));
    let options = json!({ "ie.ensureCleanSession": true, "ie.usePerProcessProxy": true });
    capabilities.insert("se:ieOptions".into(), options);
    capabilities
}
