//! Counts monitors by state and by values of custom properties, for the metrics.

use std::collections::{BTreeMap, HashMap};

use super::status_board::StatusBoard;
use super::status_row::MonitorStatus;
use crate::catalog::AccountCache;
use crate::catalog::monitor_description::custom_properties;
use crate::domain::CustomerId;
use crate::store::StoreError;
use crate::telemetry::PropertyCount;

/// Most combinations of values of one account that have a series of their own, so that no account takes all.
const MAX_COMBINATIONS_PER_ACCOUNT: usize = 100;
/// Most combinations over all accounts.
const MAX_COMBINATIONS: usize = 1000;
/// The value of combinations beyond these.
const OTHER: &str = "other";

/// Counts the monitors of `board` by state and by their values of the properties `names`; a value that a monitor does
/// not have is empty. The most frequent combinations of each account count on their own, the others as `other`.
///
/// # Errors
/// Fails when the store fails.
pub(super) async fn property_counts(
    board: &StatusBoard,
    account_cache: &AccountCache,
    names: &[String],
) -> Result<Vec<PropertyCount>, StoreError> {
    let mut by_account: BTreeMap<CustomerId, HashMap<Vec<String>, HashMap<MonitorStatus, usize>>> =
        BTreeMap::new();
    for row in board.rows() {
        let account = account_cache.account(row.monitor.customer).await?;
        let properties = custom_properties(&row.monitor, &account);
        let value = |name: &String| {
            let property = properties.iter().find(|(property, _)| property == name);
            property.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let combinations = by_account.entry(row.monitor.customer).or_default();
        let counts_by_status = combinations.entry(names.iter().map(value).collect()).or_default();
        *counts_by_status.entry(row.status).or_default() += 1;
    }
    let mut kept_count = 0;
    let mut counts: BTreeMap<(Vec<String>, &'static str), usize> = BTreeMap::new();
    for combinations in by_account.into_values() {
        let mut combinations: Vec<_> = combinations.into_iter().collect();
        combinations.sort_by_cached_key(|(values, counts_by_status)| {
            (std::cmp::Reverse(counts_by_status.values().sum::<usize>()), values.clone())
        });
        for (rank, (values, counts_by_status)) in combinations.into_iter().enumerate() {
            let is_kept = rank < MAX_COMBINATIONS_PER_ACCOUNT && kept_count < MAX_COMBINATIONS;
            kept_count += usize::from(is_kept);
            let values = if is_kept { values } else { vec![OTHER.to_owned(); names.len()] };
            for (status, count) in counts_by_status {
                *counts.entry((values.clone(), status.as_str())).or_default() += count;
            }
        }
    }
    let to_count = |((values, state), monitor_count)| PropertyCount { values, state, monitor_count };
    Ok(counts.into_iter().map(to_count).collect())
}
