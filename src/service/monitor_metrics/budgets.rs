//! Error budgets for the metrics. A report reads all results of a month, so no page waits for one: budgets are computed
//! in the background, one after the other, and shown from the next page on.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::metrics_cache::ComputedBudgets;
use crate::domain::{
    ConfigRecord, ConfigRecordFilter, ConfigRecordKind, CustomerId, MonitorId, Pagination, Timestamp,
};
use crate::export::{BudgetSample, push_label};
use crate::service::error_budget_cache::ErrorBudgets;
use crate::service::monitor_reader::MonitorReader;
use crate::store::StoreError;

/// After which time a budget is computed again.
const MAX_AGE: Duration = Duration::from_mins(5);
/// After which time a budget is forgotten that no page was made of since, such as that of a removed agreement.
const MAX_UNUSED: Duration = Duration::from_hours(1);
/// After which time the rest waits for the next page.
const MAX_REFRESH: Duration = Duration::from_secs(30);
/// Most agreements with metrics.
const MAX_AGREEMENTS: u32 = 10_000;

/// The budgets of monitors.
#[derive(Default)]
pub(super) struct KnownBudgets {
    pub(super) by_monitor: HashMap<MonitorId, Vec<BudgetSample>>,
    /// Agreements whose budgets are not known.
    pub(super) missing: u64,
}

/// Returns the budgets of the agreements of `customer`, or of all accounts, as far as they are known; computes in the
/// background what is missing or old.
pub(super) async fn known_budgets(
    reader: &Arc<MonitorReader>,
    customer: Option<CustomerId>,
    now: Timestamp,
) -> Result<KnownBudgets, StoreError> {
    let Some(store) = reader.config_store() else { return Ok(KnownBudgets::default()) };
    let mut filter = ConfigRecordFilter::new(ConfigRecordKind::Sla);
    filter.customer = customer;
    let agreements = store.records(filter, Pagination { limit: MAX_AGREEMENTS, offset: 0 }).await?;
    let mut known = KnownBudgets {
        missing: agreements.total.saturating_sub(agreements.items.len() as u64),
        ..KnownBudgets::default()
    };
    let mut due: Vec<ConfigRecord> = Vec::new();
    {
        let mut entries = reader.metrics_cache().budgets.entries.lock();
        entries.retain(|_, entry| entry.computed_at.elapsed() < MAX_UNUSED);
        for agreement in agreements.items {
            let entry = entries.get(&agreement.id).filter(|entry| entry.revision == agreement.revision);
            match (entry, agreement.parent_id) {
                (Some(entry), Some(monitor)) => {
                    let samples = entry.budgets.iter().flat_map(|budgets| samples_of(budgets));
                    known.by_monitor.entry(MonitorId(monitor)).or_default().extend(samples);
                    // Too many results for a report on the fly.
                    let is_lacking = entry.budgets.as_ref().is_some_and(|budgets| budgets.goals.is_none());
                    known.missing += u64::from(is_lacking);
                }
                _ => known.missing += 1,
            }
            if entry.is_none_or(|entry| entry.computed_at.elapsed() >= MAX_AGE) {
                due.push(agreement);
            }
        }
    }
    if !due.is_empty() {
        let reader = Arc::clone(reader);
        tokio::spawn(async move { refresh(&reader, due, now).await });
    }
    Ok(known)
}

fn samples_of(budgets: &ErrorBudgets) -> impl Iterator<Item = BudgetSample> + use<'_> {
    budgets.goals.iter().flatten().filter_map(|goal| {
        let mut labels = String::new();
        push_label(&mut labels, "sla", &budgets.name);
        push_label(&mut labels, "sla_id", &budgets.sla_id.to_string());
        push_label(&mut labels, "goal", goal.name);
        Some(BudgetSample { labels: labels.into(), left_ratio: goal.left_percent? / 100.0 })
    })
}

/// Computes the budgets of `agreements`, unless others are computed now.
async fn refresh(reader: &MonitorReader, agreements: Vec<ConfigRecord>, now: Timestamp) {
    let cache = &reader.metrics_cache().budgets;
    let Ok(_lock) = cache.refresh_lock.try_lock() else { return };
    let started_at = Instant::now();
    for agreement in agreements {
        if started_at.elapsed() > MAX_REFRESH {
            return;
        }
        match budgets_of(reader, &agreement, now).await {
            Ok(budgets) => {
                let entry =
                    ComputedBudgets { revision: agreement.revision, computed_at: Instant::now(), budgets };
                cache.entries.lock().insert(agreement.id, entry);
            }
            Err(error) => {
                tracing::warn!(error = %error, "failed to compute error budgets for the metrics");
                return;
            }
        }
    }
}

async fn budgets_of(
    reader: &MonitorReader,
    agreement: &ConfigRecord,
    now: Timestamp,
) -> Result<Option<Arc<ErrorBudgets>>, StoreError> {
    let monitor = agreement.parent_id.and_then(|id| reader.monitor(MonitorId(id)));
    let (Some(monitor), Some(accounts)) = (monitor, reader.account_cache()) else { return Ok(None) };
    let account = accounts.account(agreement.customer).await?;
    reader.budgets_of(agreement, &monitor, &account, now).await
}
