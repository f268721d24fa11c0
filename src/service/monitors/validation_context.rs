//! What a monitor is validated against.

use std::sync::Arc;

use super::monitor_context::MonitorContext;
use crate::catalog::AccountFacts;
use crate::domain::{Permission, Role};
use crate::schema::validation_context::{BillingPlan, ValidationContext};
use crate::service::caller::{Caller, ServiceError};

/// What a monitor is validated against: the account of the caller, as it is now.
pub(super) struct AccountValidation {
    facts: Arc<AccountFacts>,
    plans: Option<Vec<BillingPlan>>,
    role: Role,
}

impl AccountValidation {
    /// What monitors of `caller` are validated against; refuses callers that may not edit. To be asked for while
    /// the turn is held, so that plans are counted as they stay.
    pub(super) async fn new(context: &MonitorContext, caller: &Caller) -> Result<Self, ServiceError> {
        caller.require_right(Permission::Edit)?;
        let facts = context.dependencies.accounts.facts(caller.customer).await?;
        let plans =
            context.plan_quota.plans_with_usage(&context.dependencies.monitors, caller.customer, &facts);
        Ok(Self { facts, plans, role: caller.role })
    }

    /// What is known of the account.
    pub(super) fn facts(&self) -> &AccountFacts {
        &self.facts
    }

    /// As the rules take it.
    pub(super) fn schema_context(&self) -> ValidationContext<'_> {
        ValidationContext { plans: self.plans.as_deref(), ..self.facts.validation_context(self.role) }
    }
}
