//! Failures of connections through a proxy.

use std::io;
use std::net::SocketAddr;

use super::proxy_config::UpstreamProxy;
use crate::domain::{Failure, FailureKind, Fault, Phase};

/// Returns the failure of the target as reported by the proxy.
pub(super) fn target_failure_from_proxy(
    kind: FailureKind,
    proxy: &UpstreamProxy,
    target_address: SocketAddr,
    failure_text: &str,
) -> Failure {
    Failure::new(Phase::Connect, kind, format!("{target_address}: the proxy {proxy} {failure_text}"))
}

/// Returns the failure of a proxy that cannot be used for `reason`, as the fault of Vigie.
pub(super) fn proxy_failure(proxy: &UpstreamProxy, reason: &str) -> Failure {
    let detail = format!("the proxy {proxy}: {reason}");
    Failure::new(Phase::Connect, FailureKind::NotConfigured, detail).with_fault(Fault::Vigie)
}

/// Returns the failure of an I/O error on the connection to the proxy, as the fault of Vigie.
pub(super) fn proxy_io_failure(proxy: &UpstreamProxy, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => proxy_failure(proxy, "it closed the connection without a response"),
        _ => proxy_failure(proxy, &error.to_string()),
    }
}

/// Returns the text for each kind of failure that a proxy reports about the target.
pub(super) fn target_failure_text(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::ConnectRefused => "was refused by it",
        FailureKind::ConnectReset => "was reset by it",
        FailureKind::TimedOut => "got no response from it in time",
        _ => "cannot reach it",
    }
}
