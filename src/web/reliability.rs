//! The part of the page of a monitor about its availability, its outages and the error budgets of its agreements.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;

use super::history_bars::{SpanRuns, load_span_runs, passed_percent};
use super::html::format_coarse_duration;
use super::page_state::PageState;
use super::viewer::Viewer;
use crate::domain::{Outcome, StoreError, Timestamp};
use crate::schema::Monitor;
use crate::service::{BudgetOfGoal, ErrorBudgets, OutageTimes, ServiceError};
use crate::texts::Locale;

/// How it went in a span of time.
struct SpanView {
    name: &'static str,
    availability: String,
    up: String,
    outages: String,
    down: String,
    failed: u64,
    /// Runs that say nothing about the target, by outcome.
    not_counted: String,
}

/// An agreement in the current month.
struct AgreementView {
    sla_id: i64,
    name: String,
    since: String,
    is_complete: bool,
    /// `None` for too many results.
    goals: Option<Vec<GoalView>>,
}

struct GoalView {
    name: String,
    target: String,
    achieved: String,
    is_met: bool,
    left: String,
}

#[derive(Template)]
#[template(path = "reliability.html", config = "src/web/askama.toml")]
struct Reliability {
    spans: Vec<SpanView>,
    agreements: Vec<AgreementView>,
    t: Locale,
}

impl SpanView {
    fn new(runs: &SpanRuns, outages: &OutageTimes, created_at: Option<Timestamp>, t: Locale) -> Self {
        let sum = outages.since(runs.from, created_at);
        let unknown = || t.text("too many outages").to_owned();
        let count = |outcome: Outcome| runs.counts[usize::from(outcome.code())];
        let not_counted = [Outcome::Unknown, Outcome::Missed, Outcome::Blackout]
            .map(|outcome| (count(outcome), outcome))
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, outcome)| format!("{count} {}", t.text(outcome.name())));
        Self {
            name: runs.name,
            availability: percent_text(passed_percent(&runs.counts), t),
            up: sum.map_or_else(unknown, |sum| percent_text(sum.up_percent, t)),
            outages: sum.map_or_else(unknown, |sum| sum.count.to_string()),
            down: sum.map_or_else(unknown, |sum| format_coarse_duration(sum.down)),
            failed: count(Outcome::Error),
            not_counted: not_counted.collect::<Vec<_>>().join(", "),
        }
    }
}

impl AgreementView {
    fn new(budgets: &ErrorBudgets, t: Locale) -> Self {
        Self {
            sla_id: budgets.sla_id,
            name: budgets.name.clone(),
            since: t.zoned_time(budgets.from),
            is_complete: budgets.is_complete,
            goals: budgets
                .goals
                .as_ref()
                .map(|goals| goals.iter().map(|goal| GoalView::new(goal, t)).collect()),
        }
    }
}

impl GoalView {
    fn new(goal: &BudgetOfGoal, t: Locale) -> Self {
        let is_time = goal.name == "response_time";
        let unit = if is_time { "s" } else { "%" };
        let value = |number: f64| t.decimal(format!("{number:.3} {unit}"));
        let time = |seconds: f64| format_coarse_duration(Duration::from_secs_f64(seconds.abs()));
        let left = match (goal.left_percent, goal.left_s) {
            _ if is_time => "–".to_owned(),
            (Some(percent), Some(left_s)) if percent < 0.0 => {
                let percent = t.decimal(format!("{:.1}", -percent));
                let values = [("percent", percent.as_str()), ("time", &time(left_s))];
                t.fill("overdrawn by {percent} % ({time})", &values)
            }
            (Some(percent), Some(left_s)) => {
                format!("{} % ({})", t.decimal(format!("{percent:.1}")), time(left_s))
            }
            _ if goal.achieved.is_none() => "–".to_owned(),
            _ => t.text("nothing may fail").to_owned(),
        };
        Self {
            name: goal.name.replace('_', " "),
            target: value(goal.target),
            achieved: goal.achieved.map_or_else(|| "–".to_owned(), value),
            is_met: goal.is_met,
            left,
        }
    }
}

fn percent_text(percent: Option<f64>, t: Locale) -> String {
    percent.map_or_else(|| "–".to_owned(), |percent| t.decimal(format!("{percent:.3} %")))
}

/// Reads how it went with `monitor` and renders it, for `viewer`. The agreements are those of the account, and for its users.
pub(super) async fn render_reliability(
    state: &PageState,
    monitor: &Monitor,
    viewer: &Viewer,
) -> Result<String, StoreError> {
    let (reader, now) = (&state.monitor_reader, state.clock.now());
    let spans = load_span_runs(state, monitor, now).await?;
    let oldest = spans.iter().map(|span| span.from).min().unwrap_or(now);
    let outages = reader.outage_times(monitor.id, oldest, now).await?;
    let budgets = match viewer.caller_for(monitor.customer) {
        Some(caller) => match reader.error_budgets(&caller, monitor, now).await {
            Ok(budgets) => budgets,
            Err(ServiceError::StoreFailed(error)) => return Err(error),
            // The viewer may not see reports.
            Err(_) => Vec::new(),
        },
        None => Vec::new(),
    };
    let t = viewer.locale();
    let created_at = monitor.metadata.created_at;
    let reliability = Reliability {
        spans: spans.iter().map(|span| SpanView::new(span, &outages, created_at, t)).collect(),
        agreements: budgets.iter().map(Arc::as_ref).map(|budgets| AgreementView::new(budgets, t)).collect(),
        t,
    };
    // Writing into a string cannot fail.
    Ok(reliability.render().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(name: &'static str, left: Option<(f64, f64)>) -> BudgetOfGoal {
        let (left_percent, left_s) = (left.map(|left| left.0), left.map(|left| left.1));
        BudgetOfGoal { name, target: 99.5, achieved: Some(99.75), is_met: true, left_percent, left_s }
    }

    #[test]
    fn a_budget_says_what_is_left_or_overdrawn() {
        let left = |name, left| GoalView::new(&goal(name, left), Locale::default()).left;
        assert_eq!(left("uptime", Some((50.0, 3_900.0))), "50.0 % (1 h 5 min)");
        assert_eq!(left("uptime", Some((-20.0, -90.0))), "overdrawn by 20.0 % (1 min)");
        assert_eq!(left("availability", None), "nothing may fail");
        assert_eq!(left("response_time", None), "–");
        let time = BudgetOfGoal { target: 1.5, achieved: None, ..goal("response_time", None) };
        let time = GoalView::new(&time, Locale::default());
        assert_eq!((time.name.as_str(), time.target.as_str()), ("response time", "1.500 s"));
        assert_eq!(time.achieved, "–");
    }
}
