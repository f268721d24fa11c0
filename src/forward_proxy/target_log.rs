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
    pub peer_address: Option<SocketAddr>,
}

#[derive(Debug, Default)]
struct TargetEntry {
    last_failure: Option<Failure>,
    first_connection: Option<TargetConnection>,
}

/// Targets by host and port.
#[derive(Debug, Default)]
pub(super) struct TargetLog(Mutex<BTreeMap<(String, u16), TargetEntry>>);

impl TargetLog {
    /// Records a connection: clears the last failure of the target, and keeps its first connection.
    pub(super) fn record_connected(&self, host: &str, port: u16, trace: &ConnectionTrace) {
        self.update_target(host, port, |target| {
            target.last_failure = None;
            let new_connection =
                || TargetConnection { phases: trace.phases, peer_address: trace.peer_address };
            target.first_connection.get_or_insert_with(new_connection);
        });
    }

    pub(super) fn record_failure(&self, host: &str, port: u16, failure: &Failure) {
        self.update_target(host, port, |target| target.last_failure = Some(failure.clone()));
    }

    pub(super) fn last_failure(&self, host: &str, port: u16) -> Option<Failure> {
        let targets = self.0.lock();
        targets.get(&(normalize_host(host), port))?.last_failure.clone()
    }

    pub(super) fn first_connection(&self, host: &str, port: u16) -> Option<TargetConnection> {
        let targets = self.0.lock();
        targets.get(&(normalize_host(host), port))?.first_connection.clone()
    }

    fn update_target(&self, host: &str, port: u16, update: impl FnOnce(&mut TargetEntry)) {
        let key = (normalize_host(host), port);
        let mut targets = self.0.lock();
        if targets.len() < MAX_TARGETS || targets.contains_key(&key) {
            update(targets.entry(key).or_default());
        }
    }
}
