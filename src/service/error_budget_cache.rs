//! Error budgets for the pages of monitors, kept for a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::sla::report::GoalReport;
use crate::domain::{Revision, Timestamp};

/// How long budgets are shown.
const TTL: Duration = Duration::from_mins(1);

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
pub(super) type Entry = (Instant, Arc<ErrorBudgets>);

/// By the id and the revision of the agreement.
pub(super) type Entries = HashMap<(i64, Revision), Entry>;

/// Budgets that were computed within the last minute; one is computed at a time.
#[derive(Default)]
pub(super) struct ErrorBudgetCache {
    entries: Mutex<Entries>,
}

impl ErrorBudgetCache {
    /// Returns what was computed within the last minute; others wait meanwhile.
    pub(super) async fn lock(&self) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().await;
        entries.retain(|_, (computed_at, _)| computed_at.elapsed() < TTL);
        entries
    }
}

impl BudgetOfGoal {
    pub(super) fn new(goal: &GoalReport, counted_s: u64) -> Self {
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
