//! What a forward proxy remembers of the targets that it was asked for.

use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::blocked::bare;
use crate::domain::{Failure, Phases};
use crate::net::ConnectTrace;

/// Targets that are remembered at most; what comes later is forgotten at once.
const TARGETS: usize = 1024;

/// How a target was reached.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Time to resolve and connect.
    pub phases: Phases,
    /// The address that answered.
    pub address: Option<SocketAddr>,
}

#[derive(Debug, Default)]
struct Target {
    failure: Option<Failure>,
    way: Option<Way>,
}

/// Targets by host and port.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<BTreeMap<(String, u16), Target>>);

impl Ledger {
    pub(super) fn reached(&self, host: &str, port: u16, trace: &ConnectTrace) {
        self.with(host, port, |target| {
            target.failure = None;
            let way = || Way { phases: trace.phases, address: trace.address };
            target.way.get_or_insert_with(way);
        });
    }

    pub(super) fn failed(&self, host: &str, port: u16, failure: &Failure) {
        self.with(host, port, |target| target.failure = Some(failure.clone()));
    }

    pub(super) fn failure_of(&self, host: &str, port: u16) -> Option<Failure> {
        let targets = self.0.lock();
        targets.get(&(bare(host), port))?.failure.clone()
    }

    pub(super) fn way_of(&self, host: &str, port: u16) -> Option<Way> {
        let targets = self.0.lock();
        targets.get(&(bare(host), port))?.way.clone()
    }

    fn with(&self, host: &str, port: u16, change: impl FnOnce(&mut Target)) {
        let key = (bare(host), port);
        let mut targets = self.0.lock();
        if targets.len() < TARGETS || targets.contains_key(&key) {
            change(targets.entry(key).or_default());
        }
    }
}
