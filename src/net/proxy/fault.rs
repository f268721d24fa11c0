//! Failures of connections through a proxy.

use std::io;
use std::net::SocketAddr;

use super::upstream::Proxy;
use crate::domain::{Failure, FailureKind, Fault, Phase};

/// What a proxy says of the target.
pub(super) fn told(kind: FailureKind, proxy: &Proxy, to: SocketAddr, what: &str) -> Failure {
    Failure::new(Phase::Connect, kind, format!("{to}: the proxy {proxy} {what}"))
}

pub(super) fn unusable(proxy: &Proxy, why: &str) -> Failure {
    let detail = format!("the proxy {proxy}: {why}");
    Failure::new(Phase::Connect, FailureKind::NotConfigured, detail).with_fault(Fault::Ours)
}

pub(super) fn broken(proxy: &Proxy, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => unusable(proxy, "it closed the connection without an answer"),
        _ => unusable(proxy, &error.to_string()),
    }
}

/// What the proxy says of the target, in words, for each kind of failure.
pub(super) fn words_of(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::ConnectRefused => "was refused by it",
        FailureKind::ConnectReset => "was reset by it",
        FailureKind::TimedOut => "had no answer of it in time",
        _ => "cannot reach it",
    }
}
