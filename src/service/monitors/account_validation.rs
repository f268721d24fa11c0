//! The context that monitors are validated against.

use std::sync::Arc;

use super::monitor_context::MonitorContext;
use crate::catalog::AccountSnapshot;
use crate::domain::{Permission, Role};
use crate::schema::validation_context::{BillingPlan, ValidationContext};
use crate::service::caller::{Caller, ServiceError};

/// The context that monitors are validated against: the account of the caller, as it is now.
pub(super) struct AccountValidationContext {
    account: Arc<AccountSnapshot>,
    plans: Option<Vec<BillingPlan>>,
    role: Role,
}

impl AccountValidationContext {
    /// Reads the context for monitors of `caller`; fails for callers that may not edit. Call it while the lock is held,
    /// so that the usage of plans does not change.
    pub(super) async fn new(context: &MonitorContext, caller: &Caller) -> Result<Self, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let facts = context.dependencies.account_cache.account(caller.customer).await?;
        let plans = context.pending_plan_counts.plans_with_usage(
            &context.dependencies.monitor_cache,
            caller.customer,
            &facts,
        );
        Ok(Self { account: facts, plans, role: caller.role })
    }

    /// Returns the account data.
    pub(super) fn account(&self) -> &AccountSnapshot {
        &self.account
    }

    /// Returns the context for the schema rules.
    pub(super) fn validation_context(&self) -> ValidationContext<'_> {
        ValidationContext {
            billing_plans: self.plans.as_deref(),
            ..self.account.validation_context(self.role)
        }
    }
}
