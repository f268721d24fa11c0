//! The error budgets of the agreements of a monitor in the current month, for its page: those of the report of each
//! agreement.

use std::sync::Arc;

use tokio::time::Instant;

use super::caller::{Caller, ServiceError};
use super::error_budget_cache::{BudgetOfGoal, ErrorBudgets};
use super::monitor_reader::MonitorReader;
use super::sla::{Granularity, ReportError, SlaQuery, compute_report};
use crate::catalog::AccountSnapshot;
use crate::domain::{
    ConfigRecord, ConfigRecordFilter, ConfigRecordKind, LocationId, Pagination, Permission, Timestamp,
};
use crate::schema::Monitor;
use crate::store::StoreError;

/// Most results of a month that a page may cause to be read.
const MAX_RESULTS: u128 = 300_000;

impl MonitorReader {
    /// Returns the error budgets of the agreements of `monitor`, which belongs to the account of `caller`.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`]; errors of the store.
    pub async fn error_budgets(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        now: Timestamp,
    ) -> Result<Vec<Arc<ErrorBudgets>>, ServiceError> {
        caller.require_permission(Permission::ViewReports)?;
        let (Some(accounts), Some(store)) = (self.account_cache(), self.config_store()) else {
            return Ok(Vec::new());
        };
        let filter = ConfigRecordFilter {
            parent_ids: vec![monitor.id.0],
            ..ConfigRecordFilter::new(ConfigRecordKind::Sla).for_customer(caller.customer)
        };
        let agreements = store.records(filter, Pagination::ALL).await?.items;
        let account = accounts.account(caller.customer).await?;
        let mut budgets = Vec::new();
        for agreement in agreements {
            budgets.extend(self.budgets_of(&agreement, monitor, &account, now).await?);
        }
        Ok(budgets)
    }

    /// Returns the budgets of one agreement; `None` for one that cannot be read, or was removed meanwhile.
    pub(super) async fn budgets_of(
        &self,
        agreement: &ConfigRecord,
        monitor: &Monitor,
        account: &AccountSnapshot,
        now: Timestamp,
    ) -> Result<Option<Arc<ErrorBudgets>>, StoreError> {
        let key = (agreement.id, agreement.revision);
        // Not held while a report is computed: others have theirs already.
        if let Some((_, budgets)) = self.error_budget_cache().lock().await.get(&key) {
            return Ok(Some(Arc::clone(budgets)));
        }
        let query = SlaQuery { granularity: Granularity::Day, ..SlaQuery::default() };
        let from = query.granularity.default_start(&account.time_zone, now);
        let budgets = if expected_results(monitor, account, from, now) > MAX_RESULTS {
            let name = agreement.fields.get("name").and_then(|name| name.as_str()).unwrap_or_default();
            let name = name.to_owned();
            ErrorBudgets { sla_id: agreement.id, name, from, is_complete: true, goals: None }
        } else {
            let report = match compute_report(agreement, account, self, query, now).await {
                Ok(report) => report,
                Err(ReportError::Store(error)) => return Err(error),
                // It was removed meanwhile, or the month has just begun.
                Err(ReportError::NotFound | ReportError::EmptyRange | ReportError::TooManyPeriods) => {
                    return Ok(None);
                }
            };
            let goals = report.goals.iter().map(|goal| BudgetOfGoal::new(goal, report.counted_s)).collect();
            ErrorBudgets {
                sla_id: report.sla_id,
                name: report.name,
                from: report.from,
                is_complete: report.is_complete,
                goals: Some(goals),
            }
        };
        let budgets = Arc::new(budgets);
        self.error_budget_cache().lock().await.insert(key, (Instant::now(), Arc::clone(&budgets)));
        Ok(Some(budgets))
    }
}

/// Returns how many results a monitor has between two times as it is now.
fn expected_results(monitor: &Monitor, account: &AccountSnapshot, from: Timestamp, until: Timestamp) -> u128 {
    let pool: Vec<_> = account.location_pool_ids(monitor).into_iter().map(LocationId).collect();
    let locations = monitor.run_plan(&pool).locations_of_run(until).len();
    let from = from.max(monitor.metadata.created_at.unwrap_or(from));
    until.since(from).as_micros() / monitor.interval().as_micros().max(1) * locations.max(1) as u128
}
