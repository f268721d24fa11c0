//! Quotas of billing plans: how many monitors an account may have under each.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::monitor_change::MonitorChange;
use crate::catalog::{AccountSnapshot, MonitorCache};
use crate::domain::CustomerId;
use crate::schema::MonitorDocument;
use crate::schema::validation_context::BillingPlan;
use crate::service::caller::ServiceError;
use crate::sync::Mutex;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Counts monitors being created, by account and plan.
#[derive(Clone, Default)]
pub(super) struct BillingPlanReservations(Arc<Mutex<CountByPlan>>);

/// Numbers of monitors, by account and code of the plan.
type CountByPlan = HashMap<(CustomerId, String), usize>;

impl BillingPlanReservations {
    /// Returns the plans of the settings with the account's number of monitors under each, for the validation context.
    pub(super) fn plans_with_usage(
        &self,
        monitor_cache: &MonitorCache,
        customer: CustomerId,
        account: &AccountSnapshot,
    ) -> Option<Vec<BillingPlan>> {
        let plans = account.shared.billing_plans.as_ref()?;
        let pending = self.0.lock();
        let with_usage = |plan: &BillingPlan| {
            let pending_count = pending.get(&(customer, plan.code.clone())).copied().unwrap_or_default();
            let monitor_count = monitor_cache.count_under_plan(customer, &plan.code) + pending_count;
            BillingPlan { monitor_count, ..plan.clone() }
        };
        Some(plans.iter().map(with_usage).collect())
    }

    /// Reserves the quota that `changes` need; fails when a plan is full.
    pub(super) fn reserve(
        &self,
        monitor_cache: &MonitorCache,
        customer: CustomerId,
        account: &AccountSnapshot,
        changes: &[MonitorChange],
    ) -> Result<QuotaReservation, ServiceError> {
        let mut reservation =
            QuotaReservation { pending: self.clone(), customer, count_by_plan: BTreeMap::default() };
        let Some(plans) = &account.shared.billing_plans else { return Ok(reservation) };
        let mut pending = self.0.lock();
        for (code, count) in demand_by_plan(changes) {
            let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else { continue };
            let max_monitors = plans.iter().find(|plan| plan.code == code).and_then(|plan| plan.max_monitors);
            let pending_count = pending.entry((customer, code.clone())).or_default();
            let monitor_count = monitor_cache.count_under_plan(customer, &code) + *pending_count;
            if let Some(max_monitors) =
                max_monitors.filter(|max_monitors| monitor_count + count > *max_monitors)
            {
                // Dropping the reservation takes the lock again.
                drop(pending);
                let message =
                    format!("`billing_plancode`: plan `{code}` is full with {max_monitors} monitors");
                let error = ValidationError::new(
                    ValidationErrorKind::Conflict,
                    "billing_plancode",
                    Position::default(),
                    message,
                );
                return Err(ServiceError::Invalid(vec![error.with_value(code)]));
            }
            *pending_count += count;
            reservation.count_by_plan.insert(code, count);
        }
        drop(pending);
        Ok(reservation)
    }
}

/// Returns how many more monitors `changes` create under each plan.
fn demand_by_plan(changes: &[MonitorChange]) -> BTreeMap<String, i64> {
    let plan_code = |document: &MonitorDocument| document.billing_plancode().to_owned();
    let mut demand: BTreeMap<String, i64> = BTreeMap::new();
    for change in changes {
        match change {
            MonitorChange::Create { document, .. } => *demand.entry(plan_code(document)).or_default() += 1,
            MonitorChange::Update { old, document, .. } => {
                *demand.entry(plan_code(document)).or_default() += 1;
                *demand.entry(plan_code(&old.document)).or_default() -= 1;
            }
            MonitorChange::Remove { old } => *demand.entry(plan_code(&old.document)).or_default() -= 1,
        }
    }
    demand
}

/// Reserved quota, released when dropped.
pub(super) struct QuotaReservation {
    pending: BillingPlanReservations,
    customer: CustomerId,
    count_by_plan: BTreeMap<String, usize>,
}

impl QuotaReservation {
    /// Updates the monitor cache and releases the quota under one lock, so that monitors count exactly once.
    pub(super) fn release_with(&mut self, update_monitor_cache: impl FnOnce()) {
        let mut pending = self.pending.0.lock();
        update_monitor_cache();
        release(&mut pending, self.customer, std::mem::take(&mut self.count_by_plan));
    }
}

impl Drop for QuotaReservation {
    fn drop(&mut self) {
        self.release_with(|| {});
    }
}

fn release(pending: &mut CountByPlan, customer: CustomerId, count_by_plan: BTreeMap<String, usize>) {
    for (code, count) in count_by_plan {
        let key = (customer, code);
        if let Some(pending_count) = pending.get_mut(&key) {
            *pending_count = pending_count.saturating_sub(count);
            if *pending_count == 0 {
                pending.remove(&key);
            }
        }
    }
}
