//! Monitors by their values of a custom property, each group with its most urgent state.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::status_row::{MonitorStatus, StatusRow};
use crate::catalog::AccountCache;
use crate::domain::CustomerId;
use crate::store::StoreError;

/// The monitors that have one value of a custom property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusGroup {
    /// The value; `None` for monitors without one.
    pub value: Option<String>,
    /// How many monitors have which state, in the order of [`MonitorStatus::ALL`]; states without monitors are left out.
    pub counts: Vec<(MonitorStatus, usize)>,
}

impl StatusGroup {
    /// Returns its most urgent state.
    #[must_use]
    pub fn most_urgent(&self) -> Option<MonitorStatus> {
        self.counts.first().map(|(status, _)| *status)
    }

    /// Returns the number of its monitors.
    #[must_use]
    pub fn total(&self) -> usize {
        self.counts.iter().map(|(_, count)| count).sum()
    }
}

/// Groups `rows` by their values of the custom property `name`, the most urgent group first, then by value. A monitor is in
/// each group whose value it has. `is_known` tells whose values may be shown.
pub(super) async fn status_groups(
    rows: impl Iterator<Item = &Arc<StatusRow>>,
    account_cache: &AccountCache,
    name: &str,
    is_known: impl Fn(CustomerId) -> bool,
) -> Result<Vec<StatusGroup>, StoreError> {
    let mut counts: BTreeMap<Option<String>, [usize; MonitorStatus::ALL.len()]> = BTreeMap::new();
    let mut accounts = HashMap::new();
    for row in rows {
        let customer = row.monitor.customer;
        let account = match accounts.entry(customer) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) if is_known(customer) => {
                unknown.insert(Some(account_cache.account(customer).await?))
            }
            Entry::Vacant(unknown) => unknown.insert(None),
        }
        .as_ref();
        let values = row.monitor.document.custom_properties().filter_map(|value| {
            let property = account?.properties.get(&value.id).filter(|property| property.name == name)?;
            property.values.get(&value.value_id)
        });
        let mut add = |value: Option<&String>| {
            let counts = counts.entry(value.cloned()).or_default();
            if let Some(count) = counts.get_mut(row.status.severity_rank()) {
                *count += 1;
            }
        };
        let mut has_value = false;
        for value in values {
            has_value = true;
            add(Some(value));
        }
        if !has_value {
            add(None);
        }
    }
    let to_group = |(value, counts): (Option<String>, [usize; MonitorStatus::ALL.len()])| {
        let counts = MonitorStatus::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
        StatusGroup { value, counts }
    };
    let mut groups: Vec<_> = counts.into_iter().map(to_group).collect();
    // Monitors without a value come last.
    groups.sort_by_key(|group| {
        (group.value.is_none(), group.most_urgent().map_or(usize::MAX, MonitorStatus::severity_rank))
    });
    Ok(groups)
}
