//! Browsers at an end point of WebDriver on another host, or in a unit of their own on this one. They come to our
//! forward proxy over the network; what they leave behind is the end point's to remove.

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

/// A session at `remote`, with a browser that goes through `forward`.
///
/// # Errors
/// [`FailureKind::EgressDenied`] (95) where the end point is denied to this location,
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
    // The library says only that it did not work, and knows no egress policy.
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

/// What a session with Internet Explorer is asked for. It knows no user agent and no size of the page.
fn internet_explorer_capabilities(
    session_options: &SessionOptions,
    proxy: std::net::SocketAddr,
) -> Capabilities {
    let mut all = Capabilities::new();
    all.insert("browserName".into(), json!("internet explorer"));
    all.insert(
        "acceptInsecureCerts".into(),
        json!(super::tls_policy::accepts_any_certificate(session_options)),
    );
    all.insert("pageLoadStrategy".into(), json!("normal"));
    all.insert("unhandledPromptBehavior".into(), json!("ignore"));
    let proxy = proxy.to_string();
    all.insert("proxy".into(), json!({ "proxyType": "manual", "httpProxy": proxy, "sslProxy": proxy }));
    let options = json!({ "ie.ensureCleanSession": true, "ie.usePerProcessProxy": true });
    all.insert("se:ieOptions".into(), options);
    all
}
