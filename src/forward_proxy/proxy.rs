//! The forward proxy of one check.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::bridge::Bridge;
use super::ledger::{Ledger, Way};
use super::rules::ForwardRules;
use super::tracing::Tracing;
use crate::domain::{Failure, FailureKind, Phase};

/// A forward proxy of one check.
#[derive(Debug)]
pub struct Forward {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
    pub(super) rules: ForwardRules,
    pub(super) ledger: Ledger,
    pub(super) bridge: Option<Bridge>,
    tracing: Option<Arc<Tracing>>,
}

impl Forward {
    /// Listens on a free port. Connections wait until [`Self::serve`] is polled.
    ///
    /// # Errors
    /// [`FailureKind::NoSocket`] when there is none, [`FailureKind::NotConfigured`] when the address is not of
    /// this host.
    pub async fn bind(rules: ForwardRules) -> Result<Self, Failure> {
        let failed = |kind, why: &dyn std::fmt::Display| {
            let detail = format!("the forward proxy of the browser cannot listen on {}: {why}", rules.listen);
            Failure::new(Phase::Prepare, kind, detail)
        };
        let listener = TcpListener::bind((rules.listen, 0)).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrNotAvailable => failed(FailureKind::NotConfigured, &error),
            _ => failed(FailureKind::NoSocket, &error),
        })?;
        let address = listener.local_addr().map_err(|error| failed(FailureKind::NoSocket, &error))?;
        let bridge = rules.tls.clone().map(Bridge::new).transpose()?;
        let tracing = rules.trace.map(|id| Arc::new(Tracing::new(id)));
        Ok(Self { listener, address, rules, ledger: Ledger::default(), bridge, tracing })
    }

    /// Names the site whose requests carry the trace of the rules: a registrable domain, which stands for all hosts
    /// below it, or a host. The first one stays.
    pub fn trace(&self, site: &str) {
        if let Some(tracing) = &self.tracing {
            tracing.name(site);
        }
    }

    /// The trace, where requests to `host` carry it.
    pub(super) fn tracing_of(&self, host: &str) -> Option<&Arc<Tracing>> {
        self.tracing.as_ref().filter(|tracing| tracing.is_own(host))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Why `host` on `port` could not be reached when it was last tried; `None` when it was, or never tried.
    #[must_use]
    pub fn failure_of(&self, host: &str, port: u16) -> Option<Failure> {
        self.ledger.failure_of(host, port)
    }

    /// Whether the rules or the egress policy keep `host` on `port` from whoever asks for it.
    #[must_use]
    pub fn refuses(&self, host: &str, port: u16) -> bool {
        let is_denied = |failure: Failure| failure.kind == FailureKind::EgressDenied;
        self.rules.blocked.rule_for(host).is_some() || self.failure_of(host, port).is_some_and(is_denied)
    }

    /// How `host` on `port` was reached the first time.
    #[must_use]
    pub fn way_of(&self, host: &str, port: u16) -> Option<Way> {
        self.ledger.way_of(host, port)
    }
}
