//! Pings a host that does not report: is it down, or only its agent?

use std::net::IpAddr;
use std::time::Duration;

use crate::net::{ConnectionTrace, EchoResult, Endpoint};
use crate::probe::probe_trait::ProbeContext;

/// Echo requests, one after the other until one is answered, and how long to wait for each.
const REQUESTS: usize = 3;
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes of data of a request.
const PAYLOAD_BYTES: usize = 32;

/// What a ping told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PingOutcome {
    /// The address that was pinged; `None` when the name has none.
    pub(super) address: Option<IpAddr>,
    /// Whether it replied; `None` when this location cannot ping, or may not ping the address.
    pub(super) is_answered: Option<bool>,
}

/// Pings `host`, a name or an address.
pub(super) async fn ping(cx: ProbeContext<'_>, host: &str) -> PingOutcome {
    let endpoint = Endpoint::new(host, 0);
    let mut trace = ConnectionTrace::default();
    // A name that does not exist tells as little as no permission: the host may be well.
    let Ok(addresses) = cx.net.resolve(&endpoint, cx.deadline, &mut trace).await else {
        return PingOutcome::default();
    };
    let Ok(addresses) = cx.net.allowed_addresses(&addresses, None, &mut trace) else {
        return PingOutcome::default();
    };
    let mut outcome = PingOutcome { address: addresses.first().copied(), is_answered: None };
    for address in addresses {
        let Ok(socket) = cx.net.echo_socket(address).await else { continue };
        for _ in 0..REQUESTS {
            let Ok(request) = socket.send(address, PAYLOAD_BYTES).await else { continue };
            outcome.is_answered.get_or_insert(false);
            let timeout = REPLY_TIMEOUT.min(cx.deadline.remaining());
            let reply = tokio::time::timeout(timeout, request.echo_result()).await;
            if matches!(reply, Ok(Some(EchoResult::Reply(_)))) {
                return PingOutcome { address: Some(address), is_answered: Some(true) };
            }
        }
    }
    outcome
}
