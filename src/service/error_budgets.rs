//! The error budgets of the agreements of a monitor in the current month, for its page: those of the report of each
//! agreement, kept for a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::caller::{Caller, ServiceError};
use super::monitor_reader::MonitorReader;
use super::sla::report::GoalReport;
use super::sla::{Granularity, ReportError, SlaQuery, compute_report};
use crate::catalog::AccountSnapshot;
use crate::domain::{
    ConfigRecord, ConfigRecordFilter, ConfigRecordKind, LocationId, Pagination, Permission, Revision,
    Timestamp,
};
use crate::schema::Monitor;
use crate::store::StoreError;

/// How long budgets are shown.
const TTL: Duration = Duration::from_mins(1);
/// Most results of a month that a page may cause to be read.
const MAX_RESULTS: u128 = 300_000;

/// The goals of an agreement in the current month.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBudgets {
    /// Id of the agreement.
    pub sla_id: i64,
    /// Its name.
    pub name: String,
    /// Start of the month, in the time zone of the account.
    pub from: Timestamp,
    /// Whether all results of the month are still stored.
    pub is_complete: bool,
    /// Its goals; `None` when the month has too many results for a page. The report of the API has them.
    pub goals: Option<Vec<BudgetOfGoal>>,
}

/// A goal and what is left of its error budget.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetOfGoal {
    /// `availability`, `uptime` or `response_time`.
    pub name: &'static str,
    /// The goal, in percent or seconds.
    pub target: f64,
    /// The achieved value; `None` when nothing was counted.
    pub achieved: Option<f64>,
    /// Whether the goal is met.
    pub is_met: bool,
    /// Percent of the budget that is left; below 0 when the goal is missed. `None` for a response time, and when
    /// nothing may fail.
    pub left_percent: Option<f64>,
    /// The same as a share of the counted time, in seconds: how much longer it could fail.
    pub left_s: Option<f64>,
}

/// What was computed, and when.
type Entry = (Instant, Arc<ErrorBudgets>);

/// Budgets that were computed within the last minute; one is computed at a time.
#[derive(Default)]
pub(super) struct ErrorBudgetCache {
    entries: Mutex<HashMap<(i64, Revision), Entry>>,
}

impl BudgetOfGoal {
    fn new(goal: &GoalReport, counted_s: u64) -> Self {
        let left_percent = goal.budget.as_ref().and_then(|budget| budget.remaining_percent);
        let budget_s = (100.0 - goal.target) / 100.0 * counted_s as f64;
        Self {
            name: goal.name,
            target: goal.target,
            achieved: goal.achieved,
            is_met: goal.is_met,
            left_percent,
            left_s: left_percent.map(|percent| budget_s * percent / 100.0),
        }
    }
}

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
    async fn budgets_of(
        &self,
        agreement: &ConfigRecord,
        monitor: &Monitor,
        account: &AccountSnapshot,
        now: Timestamp,
    ) -> Result<Option<Arc<ErrorBudgets>>, StoreError> {
        let key = (agreement.id, agreement.revision);
        let mut entries = self.error_budget_cache().entries.lock().await;
        entries.retain(|_, (computed_at, _)| computed_at.elapsed() < TTL);
        if let Some((_, budgets)) = entries.get(&key) {
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
        entries.insert(key, (Instant::now(), Arc::clone(&budgets)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::sla::ErrorBudgetReport;

    fn goal(target: f64, remaining_percent: Option<f64>) -> GoalReport {
        let budget = ErrorBudgetReport {
            allowed_failures: 10.0,
            failures: 5,
            remaining_percent,
            burn_rate: None,
            burn_rate_1h: None,
            burn_rate_6h: None,
            burn_rate_24h: None,
            burn_rate_72h: None,
        };
        let is_met = remaining_percent.is_none_or(|percent| percent >= 0.0);
        GoalReport { name: "availability", target, achieved: Some(99.5), is_met, budget: Some(budget) }
    }

    #[test]
    fn what_is_left_is_a_share_of_the_counted_time() {
        let left = |target, percent| {
            let budget = BudgetOfGoal::new(&goal(target, percent), 100_000);
            (budget.left_percent, budget.left_s)
        };
        assert_eq!(left(99.0, Some(50.0)), (Some(50.0), Some(500.0)));
        assert_eq!(left(99.0, Some(-20.0)), (Some(-20.0), Some(-200.0)));
        assert_eq!(left(100.0, None), (None, None), "nothing may fail");
        let response = GoalReport { budget: None, name: "response_time", ..goal(1.5, None) };
        assert_eq!(BudgetOfGoal::new(&response, 100_000).left_s, None);
    }
}
