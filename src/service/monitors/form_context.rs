//! What a form of a monitor needs to know of its account.

use super::monitor_service::MonitorService;
use crate::domain::{Location, MonitorId, MonitorType};
use crate::service::account_choices::AccountChoices;
use crate::service::caller::{Caller, ServiceError};

/// Plan of the first monitor of an account, where the settings name none.
const FIRST_PLAN: &str = "standard";

/// What a form of a monitor needs to know of its account.
#[derive(Clone, Debug)]
pub struct FormContext {
    /// The locations that the account may use.
    pub locations: Vec<Location>,
    /// What else of the account a person can choose.
    pub choices: AccountChoices,
    /// The types that this build checks; it only stores the others.
    pub checked_types: Vec<MonitorType>,
    /// The plan that a new monitor probably has: that of another monitor of the account.
    pub usual_plan: String,
}

/// Returns the context of forms for the account of `caller`.
///
/// # Errors
/// Fails when the store does.
pub async fn form_context(service: &MonitorService, caller: &Caller) -> Result<FormContext, ServiceError> {
    let account = service.account_cache().account(caller.customer).await?;
    let own_monitors = service.list_from(MonitorId(0), 1, |monitor| monitor.customer == caller.customer);
    let usual_plan = own_monitors.first().map_or(FIRST_PLAN, |monitor| monitor.document.billing_plancode());
    Ok(FormContext {
        locations: account.locations.values().cloned().collect(),
        choices: AccountChoices::new(&account),
        checked_types: account.shared.supported_types.clone(),
        usual_plan: usual_plan.to_owned(),
    })
}
