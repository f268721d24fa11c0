//! Outages and messages for users.

use std::sync::Arc;

use super::watchman::Watchman;
use crate::catalog::{Directory, Roster};
use crate::clock::Clock;
use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::service::caller::{Caller, Refusal};
use crate::store::{AlertStore, AuditObject, ConfigStore, Outbox};

/// What the use cases work with.
#[derive(Clone)]
pub struct AlertingParts {
    /// Outages.
    pub alarms: Arc<dyn AlertStore>,
    /// Messages.
    pub outbox: Arc<dyn Outbox>,
    /// Keeps who did what.
    pub ledger: Arc<dyn ConfigStore>,
    /// Decides and delivers.
    pub watchman: Arc<dyn Watchman>,
    /// The monitors.
    pub roster: Arc<Roster>,
    /// What is known of accounts.
    pub directory: Arc<Directory>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Outages and messages, for users.
pub struct Alerting {
    pub(super) parts: AlertingParts,
}

impl Alerting {
    /// Over `parts`.
    #[must_use]
    pub fn new(parts: AlertingParts) -> Self {
        Self { parts }
    }

    /// Keeps in the audit trail what `caller` did.
    pub(super) async fn audit(
        &self,
        caller: &Caller,
        action: &'static str,
        object: &'static str,
        id: i64,
        name: &str,
    ) -> Result<(), Refusal> {
        let now = self.parts.clock.now();
        let entry = caller.entry(now, action, object, AuditObject::Id(id), name);
        self.parts.ledger.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    /// The monitor of the caller's account with this number.
    pub(super) fn own(&self, caller: &Caller, monitor: i64) -> Option<Monitor> {
        self.parts.roster.of(caller.customer, MonitorId(monitor))
    }
}
