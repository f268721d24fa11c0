//! Changes of the counts of checks by day, account, plan, type and location.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::Outcome;

/// A day in microseconds.
pub(in crate::store) const DAY_US: i64 = 86_400_000_000;

/// What the counts of results need of a monitor.
#[derive(Clone)]
pub(in crate::store) struct MonitorAttributes {
    /// Its account; 0 when the monitor is unknown.
    pub(in crate::store) customer: i64,
    /// Code of its billing plan.
    pub(in crate::store) plan: Arc<str>,
    /// Its type.
    pub(in crate::store) monitor_type: Arc<str>,
}

/// Plan, type and location.
type UsageKey = (Arc<str>, Arc<str>, i64);

/// Checks of one transaction, by account and day.
#[derive(Default)]
pub(in crate::store) struct UsageChanges(BTreeMap<(i64, i64), BTreeMap<UsageKey, i64>>);

/// Checks to be added to the count of a day.
pub(in crate::store) struct UsageRow {
    pub(in crate::store) customer: i64,
    pub(in crate::store) day: i64,
    pub(in crate::store) plan: Arc<str>,
    pub(in crate::store) monitor_type: Arc<str>,
    pub(in crate::store) location: i64,
    pub(in crate::store) checks: i64,
}

impl UsageChanges {
    /// Adds a check, if it ran.
    pub(in crate::store) fn add(
        &mut self,
        planned_at: i64,
        attributes: &MonitorAttributes,
        location: i64,
        outcome: Outcome,
    ) {
        if !has_run(outcome) {
            return;
        }
        let day = planned_at.saturating_sub(planned_at.rem_euclid(DAY_US));
        let key = (Arc::clone(&attributes.plan), Arc::clone(&attributes.monitor_type), location);
        *self.0.entry((attributes.customer, day)).or_default().entry(key).or_default() += 1;
    }

    /// Returns the changes, ordered by the key of their rows.
    pub(in crate::store) fn into_rows(self) -> impl Iterator<Item = UsageRow> {
        self.0.into_iter().flat_map(|((customer, day), checks_by_key)| {
            checks_by_key.into_iter().map(move |((plan, monitor_type, location), checks)| UsageRow {
                customer,
                day,
                plan,
                monitor_type,
                location,
                checks,
            })
        })
    }
}

/// Whether a check with this outcome ran.
fn has_run(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Missed | Outcome::Blackout)
}
