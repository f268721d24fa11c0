//! The service for episodes and notifications.

use std::sync::Arc;

use super::alert_pipeline_handle::AlertPipelineHandle;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AlertStore, AuditObject, ConfigStore, Outbox};

/// Dependencies of the service.
#[derive(Clone)]
pub struct AlertServiceDependencies {
    /// Stores episodes.
    pub alert_store: Arc<dyn AlertStore>,
    /// Stores notifications.
    pub outbox: Arc<dyn Outbox>,
    /// Stores the audit trail.
    pub config_store: Arc<dyn ConfigStore>,
    /// Controls the alert engine and the delivery.
    pub alert_pipeline_handle: Arc<dyn AlertPipelineHandle>,
    /// The monitors.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies account data.
    pub account_cache: Arc<AccountCache>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// Episodes and notifications, for users.
pub struct AlertService {
    pub(super) dependencies: AlertServiceDependencies,
}

impl AlertService {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: AlertServiceDependencies) -> Self {
        Self { dependencies }
    }

    /// Records an action of `caller` in the audit trail.
    pub(super) async fn write_audit_entry(
        &self,
        caller: &Caller,
        action: &'static str,
        object_kind: &'static str,
        object_id: i64,
        object_name: &str,
    ) -> Result<(), ServiceError> {
        let now = self.dependencies.clock.now();
        let entry = caller.audit_entry(now, action, object_kind, AuditObject::Id(object_id), object_name);
        self.dependencies.config_store.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    /// Returns the monitor of the caller's account with this id.
    pub(super) fn own_monitor(&self, caller: &Caller, id: i64) -> Option<Monitor> {
        self.dependencies.monitor_cache.get_for_customer(caller.customer, MonitorId(id))
    }
}
