//! The targets that a forward proxy was asked to connect to.

use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::blocked_hosts::normalize_host;
use crate::domain::{Failure, Phases};
use crate::net::ConnectionTrace;

/// Maximum number of targets that are recorded; further ones are ignored.
const MAX_TARGETS: usize = 1024;

/// A connection to a target.
#[derive(Clone, Debug, Default)]
pub struct TargetConnection {
    /// Times to resolve and connect.
    pub phases: Phases,
    /// Address of the target.
    pub address: Option<SocketAddr>,
}

#[derive(Debug, Default)]
struct TargetEntry {
    failure: Option<Failure>,
    connection: Option<TargetConnection>,
}

/// Targets by host and port.
#[derive(Debug, Default)]
pub(super) struct TargetLog(Mutex<BTreeMap<(String, u16), TargetEntry>>);

impl TargetLog {
    pub(super) fn record_connected(&self, host: &str, port: u16, trace: &ConnectionTrace) {
        self.with(host, port, |target| {
            target.failure = None;
            let way = || TargetConnection { phases: trace.phases, address: trace.peer_address };
            target.connection.get_or_insert_with(way);
        });
    }

    pub(super) fn record_failure(&self, host: &str, port: u16, failure: &Failure) {
        self.with(host, port, |target| target.failure = Some(failure.clone()));
    }

    pub(super) fn last_failure(&self, host: &str, port: u16) -> Option<Failure> {
        let targets = self.0.lock();
        targets.get(&(normalize_host(host), port))?.failure.clone()
    }

    pub(super) fn connection(&self, host: &str, port: u16) -> Option<TargetConnection> {
        let targets = self.0.lock();
        targets.get(&(normalize_host(host), port))?.connection.clone()
    }

    fn with(&self, host: &str, port: u16, change: impl FnOnce(&mut TargetEntry)) {
        let key = (normalize_host(host), port);
        let mut targets = self.0.lock();
        if targets.len() < MAX_TARGETS || targets.contains_key(&key) {
            change(targets.entry(key).or_default());
        }
    }
}
