//! Monitors by their values of a custom property, each group with its most urgent state.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::status_board::{MonitorStatus, StatusRow};
use crate::catalog::AccountCache;
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
/// each group whose value it has.
pub(super) async fn status_groups(
    rows: impl Iterator<Item = &Arc<StatusRow>>,
    account_cache: &AccountCache,
    name: &str,
) -> Result<Vec<StatusGroup>, StoreError> {
    let mut counts: BTreeMap<Option<String>, [usize; MonitorStatus::ALL.len()]> = BTreeMap::new();
    let mut account = None;
    for row in rows {
        let account = match &account {
            Some((id, account)) if *id == row.monitor.customer => account,
            _ => {
                &account.insert((row.monitor.customer, account_cache.account(row.monitor.customer).await?)).1
            }
        };
        let values = row.monitor.document.custom_properties().filter_map(|value| {
            let property = account.properties.get(&value.id).filter(|property| property.name == name)?;
            property.values.get(&value.value_id)
        });
        let mut add = |value: Option<&String>| {
            let counts = match counts.get_mut(&value.cloned()) {
                Some(counts) => counts,
                None => counts.entry(value.cloned()).or_default(),
            };
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
