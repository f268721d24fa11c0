//! Places under plans: how many monitors an account may have under each.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::monitor_change::MonitorChange;
use crate::catalog::{AccountFacts, MonitorCache};
use crate::domain::CustomerId;
use crate::schema::MonitorDocument;
use crate::schema::validation_context::BillingPlan;
use crate::service::caller::ServiceError;
use crate::sync::Mutex;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// How many monitors are being made, by account and plan.
#[derive(Clone, Default)]
pub(super) struct PlanQuota(Arc<Mutex<PendingCounts>>);

type PendingCounts = HashMap<(CustomerId, String), usize>;

impl PlanQuota {
    /// The plans of the settings with the number of monitors that the account has under each, for
    /// `Surroundings::plans_with_usage`.
    pub(super) fn plans_with_usage(
        &self,
        monitor_cache: &MonitorCache,
        customer: CustomerId,
        facts: &AccountFacts,
    ) -> Option<Vec<BillingPlan>> {
        let plans = facts.common.plans.as_ref()?;
        let pending = self.0.lock();
        let counted = |plan: &BillingPlan| {
            let making = pending.get(&(customer, plan.code.clone())).copied().unwrap_or_default();
            let monitors = monitor_cache.count_under_plan(customer, &plan.code) + making;
            BillingPlan { monitor_count: monitors, ..plan.clone() }
        };
        Some(plans.iter().map(counted).collect())
    }

    /// Takes the places under plans that `steps` need; refuses when there are not so many.
    pub(super) fn reserve(
        &self,
        monitors: &MonitorCache,
        customer: CustomerId,
        facts: &AccountFacts,
        steps: &[MonitorChange],
    ) -> Result<QuotaReservation, ServiceError> {
        let mut reserved = QuotaReservation { pending: self.clone(), customer, places: BTreeMap::default() };
        let Some(plans) = &facts.common.plans else { return Ok(reserved) };
        let mut pending = self.0.lock();
        for (code, count) in demand_by_plan(steps) {
            let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else { continue };
            let max = plans.iter().find(|plan| plan.code == code).and_then(|plan| plan.max_monitors);
            let making = pending.entry((customer, code.clone())).or_default();
            let there = monitors.count_under_plan(customer, &code) + *making;
            if let Some(max) = max.filter(|max| there + count > *max) {
                // Before the lock is asked for again by giving back what was taken.
                drop(pending);
                let message = format!("`billing_plancode`: plan `{code}` is full with {max} monitors");
                let error = ValidationError::new(
                    ValidationErrorKind::Conflict,
                    "billing_plancode",
                    Position::default(),
                    message,
                );
                return Err(ServiceError::Invalid(vec![error.with_value(code)]));
            }
            *making += count;
            reserved.places.insert(code, count);
        }
        drop(pending);
        Ok(reserved)
    }
}

/// How many more monitors `steps` make under each plan.
fn demand_by_plan(steps: &[MonitorChange]) -> BTreeMap<String, i64> {
    let code = |document: &MonitorDocument| document.billing_plancode().to_owned();
    let mut wanted: BTreeMap<String, i64> = BTreeMap::new();
    for step in steps {
        match step {
            MonitorChange::Create { document, .. } => *wanted.entry(code(document)).or_default() += 1,
            MonitorChange::Update { old, document, .. } => {
                *wanted.entry(code(document)).or_default() += 1;
                *wanted.entry(code(&old.document)).or_default() -= 1;
            }
            MonitorChange::Remove { old } => *wanted.entry(code(&old.document)).or_default() -= 1,
        }
    }
    wanted
}

/// Places under plans; given back when dropped, by when the roster counts what took them.
pub(super) struct QuotaReservation {
    pending: PlanQuota,
    customer: CustomerId,
    places: BTreeMap<String, usize>,
}

impl QuotaReservation {
    /// Lets the roster count instead, without a moment between in which both do or neither.
    pub(super) fn release_with(&mut self, monitor_cache: impl FnOnce()) {
        let mut pending = self.pending.0.lock();
        monitor_cache();
        release(&mut pending, self.customer, std::mem::take(&mut self.places));
    }
}

impl Drop for QuotaReservation {
    fn drop(&mut self) {
        self.release_with(|| {});
    }
}

fn release(pending: &mut PendingCounts, customer: CustomerId, places: BTreeMap<String, usize>) {
    for (code, count) in places {
        let key = (customer, code);
        if let Some(making) = pending.get_mut(&key) {
            *making = making.saturating_sub(count);
            if *making == 0 {
                pending.remove(&key);
            }
        }
    }
}
