//! Outages and messages for users.

use std::sync::Arc;

use super::alert_control::AlertControl;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AlertStore, AuditObject, ConfigStore, Outbox};

/// What the use cases work with.
#[derive(Clone)]
pub struct AlertServiceDependencies {
    /// Outages.
    pub alert_store: Arc<dyn AlertStore>,
    /// Messages.
    pub outbox: Arc<dyn Outbox>,
    /// Keeps who did what.
    pub config: Arc<dyn ConfigStore>,
    /// Decides and delivers.
    pub alert_control: Arc<dyn AlertControl>,
    /// The monitors.
    pub monitors: Arc<MonitorCache>,
    /// What is known of accounts.
    pub accounts: Arc<AccountCache>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Outages and messages, for users.
pub struct AlertService {
    pub(super) dependencies: AlertServiceDependencies,
}

impl AlertService {
    /// Over `parts`.
    #[must_use]
    pub fn new(dependencies: AlertServiceDependencies) -> Self {
        Self { dependencies }
    }

    /// Keeps in the audit trail what `caller` did.
    pub(super) async fn audit(
        &self,
        caller: &Caller,
        action: &'static str,
        object: &'static str,
        id: i64,
        name: &str,
    ) -> Result<(), ServiceError> {
        let now = self.dependencies.clock.now();
        let entry = caller.audit_entry(now, action, object, AuditObject::Id(id), name);
        self.dependencies.config.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    /// The monitor of the caller's account with this number.
    pub(super) fn own_monitor(&self, caller: &Caller, monitor: i64) -> Option<Monitor> {
        self.dependencies.monitors.get_for_customer(caller.customer, MonitorId(monitor))
    }
}
