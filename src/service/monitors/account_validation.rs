//! The context that monitors are validated against.

use std::sync::Arc;

use super::monitor_service::MonitorService;
use crate::catalog::{AccountSnapshot, MonitorCache};
use crate::domain::{CustomerId, MonitorId, Permission, Role};
use crate::schema::validation_context::{BillingPlan, MonitorLookup, ValidationContext};
use crate::service::caller::{Caller, ServiceError};

/// The context that monitors are validated against: the account of the caller, as it is now.
pub(super) struct AccountValidationContext {
    account: Arc<AccountSnapshot>,
    /// Plans of the settings with the account's number of monitors; `None` when any code is accepted.
    plans: Option<Vec<BillingPlan>>,
    role: Role,
    monitors: AccountMonitors,
}

/// The monitors of an account, as they are now.
#[derive(Debug)]
struct AccountMonitors {
    monitor_cache: Arc<MonitorCache>,
    customer: CustomerId,
}

impl MonitorLookup for AccountMonitors {
    fn parents_of(&self, id: MonitorId) -> Option<Vec<MonitorId>> {
        Some(self.monitor_cache.get_for_customer(self.customer, id)?.document.parent_ids())
    }
}

impl AccountValidationContext {
    /// Reads the context for monitors of `caller`; fails for callers that may not edit. Call it while the lock is held,
    /// so that the usage of plans does not change.
    pub(super) async fn new(service: &MonitorService, caller: &Caller) -> Result<Self, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let account = service.dependencies.account_cache.account(caller.customer).await?;
        let plans = service.billing_plan_reservations.plans_with_usage(
            &service.dependencies.monitor_cache,
            caller.customer,
            &account,
        );
        let monitors = AccountMonitors {
            monitor_cache: Arc::clone(&service.dependencies.monitor_cache),
            customer: caller.customer,
        };
        Ok(Self { account, plans, role: caller.role, monitors })
    }

    /// Returns the account data.
    pub(super) fn account(&self) -> &AccountSnapshot {
        &self.account
    }

    /// Returns the context for the schema rules about a change of the monitor `id`.
    pub(super) fn context_for_change(&self, id: MonitorId) -> ValidationContext<'_> {
        ValidationContext { monitor_id: Some(id), ..self.validation_context() }
    }

    /// Returns the context for the schema rules.
    pub(super) fn validation_context(&self) -> ValidationContext<'_> {
        ValidationContext {
            billing_plans: self.plans.as_deref(),
            monitors: Some(&self.monitors),
            ..self.account.validation_context(self.role)
        }
    }
}
