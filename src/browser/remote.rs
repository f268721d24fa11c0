//! Browsers at a WebDriver end point on another host, or in another unit on this one. They reach Vigie's forward proxy
//! over the network; the end point cleans up after them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use fantoccini::{Client, ClientBuilder};

use super::capabilities::session_capabilities;
use super::config::RemoteWebDriver;
use super::failure;
use super::failure::launch_failure;
use super::session_options::SessionOptions;
use crate::domain::{EgressPrincipal, Failure, FailureKind};
use crate::forward_proxy::ForwardProxy;
use crate::net::{ConnectionTrace, Deadline, Endpoint, Net, ProtectedService, protect_address};
use crate::subprocess::response_limit_connector::ResponseLimitConnector;
use crate::sync::Mutex;

/// Opens a session at `end_point`, with a browser that uses `forward_proxy`.
///
/// # Errors
/// Fails with [`FailureKind::EgressDenied`] (95) when the egress policy of this location denies the end point, and
/// [`FailureKind::BrowserFailed`] (90) when it cannot be reached or refuses.
pub(super) async fn open_remote_session(
    end_point: &RemoteWebDriver,
    options: &SessionOptions,
    net: &Net,
    forward_proxy: &ForwardProxy,
    protected_drivers: &ProtectedDrivers,
    deadline: Deadline,
) -> Result<Client, Failure> {
    let host = end_point.url.host_str().unwrap_or_default();
    let end_point_address = Endpoint::new(host, end_point.url.port_or_known_default().unwrap_or(80));
    // Connect once ourselves: the library reports no reason of a failure and does not apply the egress policy.
    let (net, mut trace) = (net.with_egress_principal(EgressPrincipal::Vigie), ConnectionTrace::default());
    let connect_result = net.connect(&end_point_address, deadline, &mut trace).await;
    protected_drivers.protect(&trace.resolved_addresses, end_point_address.port);
    connect_result.map_err(|failure| {
        let denied = failure.kind == FailureKind::EgressDenied;
        let kind = if denied { FailureKind::EgressDenied } else { FailureKind::BrowserFailed };
        launch_failure(kind, format!("the end point of `browser.remote` at {end_point_address}: {failure}"))
    })?;
    let capabilities = session_capabilities(options, forward_proxy.listen_address(), None);
    let mut builder = ClientBuilder::new(ResponseLimitConnector::new());
    let connecting = builder.capabilities(capabilities).connect(end_point.url.as_str()).await;
    connecting.map_err(|error| failure::session_not_created_failure(&error, ""))
}

/// The remote drivers that no check may reach: they accept commands from everybody.
#[derive(Debug, Default)]
pub(super) struct ProtectedDrivers(Mutex<BTreeMap<SocketAddr, ProtectedService>>);

impl ProtectedDrivers {
    /// Protects `port` at all of `addresses`, until this is dropped.
    pub(super) fn protect(&self, addresses: &[IpAddr], port: u16) {
        let mut protected = self.0.lock();
        for address in addresses.iter().map(|ip| SocketAddr::new(*ip, port)) {
            protected.entry(address).or_insert_with(|| protect_address(address));
        }
    }

    /// Resolves the hosts of `remotes` and protects their ports. Blocks while names are resolved; a name that does not
    /// resolve is protected when it is first used.
    pub(super) fn protect_all(&self, remotes: &[RemoteWebDriver]) {
        for url in remotes.iter().map(|remote| &remote.url) {
            let addresses = url.socket_addrs(|| None).unwrap_or_default();
            for address in addresses {
                self.protect(&[address.ip()], address.port());
            }
        }
    }
}
