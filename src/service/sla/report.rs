//! The report of an agreement, as JSON and CSV. Ratios are percent with three decimals, rounded down; times are UTC,
//! names of periods are in the account's time zone.

use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};
use crate::evaluate::sla::{SlaObjective, SlaStats, ratio_percent};
use crate::service::events::EventMarker;

/// The report of an agreement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlaReport {
    /// Id of the agreement.
    pub sla_id: i64,
    /// Its name.
    pub name: String,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its current name; empty when it does not exist any more.
    pub monitor_name: String,
    /// Time zone of the periods.
    pub time_zone: String,
    /// `hour`, `day` or `month`.
    #[serde(rename = "by")]
    pub granularity: &'static str,
    /// Its start.
    pub from: Timestamp,
    /// Its exclusive end; not later than now.
    #[serde(rename = "thru")]
    pub until: Timestamp,
    /// Planned time of the oldest retained result; `null` without one.
    #[serde(rename = "data_from")]
    pub oldest_result_at: Option<Timestamp>,
    /// Whether all results of the time range are still retained; removed ones are not counted.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    /// Counted seconds: operating periods without exclusions and blackouts.
    pub counted_s: u64,
    /// Its goals.
    pub goals: Vec<GoalReport>,
    /// Figures of the whole report.
    pub total: SlaStatsRow,
    /// Figures by location.
    pub locations: Vec<LocationRow>,
    /// Figures by period.
    #[serde(rename = "pieces")]
    pub periods: Vec<PeriodRow>,
    /// Blackouts of the monitor in the time range, which are not counted.
    pub blackouts: Vec<BlackoutRow>,
    /// Events of the account in the time range, the newest ones.
    pub events: Vec<EventMarker>,
}

/// A goal and whether it is met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalReport {
    /// `availability`, `uptime` or `response_time`.
    #[serde(rename = "goal")]
    pub name: &'static str,
    /// The goal, in percent or seconds.
    #[serde(rename = "wanted")]
    pub target: f64,
    /// The achieved value; `null` when nothing was counted.
    #[serde(rename = "reached")]
    pub achieved: Option<f64>,
    /// Whether the goal is met.
    #[serde(rename = "met")]
    pub is_met: bool,
    /// Error budget of a goal in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<ErrorBudgetReport>,
}

/// The error budget of a goal, and how fast it is used up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorBudgetReport {
    /// How many checks may fail; for an uptime goal, how many runs.
    #[serde(rename = "allowed")]
    pub allowed_failures: f64,
    /// How many failed.
    #[serde(rename = "used")]
    pub failures: u64,
    /// Percent left; below 0 when the goal is missed, `null` when nothing may fail.
    #[serde(rename = "left_percent")]
    pub remaining_percent: Option<f64>,
    /// Burn rate over the whole report: failures in relation to the allowed ones, 1 uses up the budget exactly.
    pub burn_rate: Option<f64>,
    /// Burn rate of the last hour of the report.
    pub burn_rate_1h: Option<f64>,
    /// Burn rate of its last six hours.
    pub burn_rate_6h: Option<f64>,
    /// Burn rate of its last day.
    pub burn_rate_24h: Option<f64>,
    /// Burn rate of its last three days.
    pub burn_rate_72h: Option<f64>,
}

/// Figures of a period or location.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlaStatsRow {
    /// Percent of runs that passed at some location.
    pub uptime_percent: Option<f64>,
    /// Percent of checks that passed.
    pub availability_percent: Option<f64>,
    /// Mean seconds of passed checks, over locations.
    pub response_time: Option<f64>,
    /// Median of the seconds of passed checks, exact to 1 %, as the other percentiles.
    pub response_time_p50: Option<f64>,
    /// Percentile 75.
    pub response_time_p75: Option<f64>,
    /// Percentile 90.
    pub response_time_p90: Option<f64>,
    /// Percentile 95.
    pub response_time_p95: Option<f64>,
    /// Percentile 99.
    pub response_time_p99: Option<f64>,
    /// Runs that passed at some location.
    pub runs_up: u64,
    /// Runs that passed at no location and failed at one.
    pub runs_down: u64,
    /// Checks that passed.
    pub ok: u64,
    /// Checks that passed with a warning.
    pub warning: u64,
    /// Checks that failed.
    pub error: u64,
    /// Checks without a conclusive result.
    pub unknown: u64,
    /// Checks that did not take place.
    pub missed: u64,
    /// Checks that a blackout suppressed.
    pub blackout: u64,
    /// Failed checks whose error was suppressed, since a monitor that it depends on was down; they count as errors too.
    pub suppressed: u64,
    /// Checks that are not counted.
    pub excluded: u64,
}

/// A period.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeriodRow {
    /// Its name, such as `2026-11-20`.
    pub period: String,
    /// Its start.
    pub from: Timestamp,
    /// Its exclusive end.
    #[serde(rename = "thru")]
    pub until: Timestamp,
    /// Its figures.
    #[serde(flatten)]
    pub stats: SlaStatsRow,
}

/// A location.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocationRow {
    /// Its id.
    pub location_id: LocationId,
    /// Its name; empty when it does not exist any more.
    pub name: String,
    /// Its figures; here each check counts as a run.
    #[serde(flatten)]
    pub stats: SlaStatsRow,
}

/// A blackout.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlackoutRow {
    /// `Monitor` or `Alert`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its start.
    pub from: Timestamp,
    /// Its end.
    #[serde(rename = "thru")]
    pub until: Timestamp,
}

impl SlaStatsRow {
    pub(super) fn from_stats(stats: &SlaStats) -> Self {
        let percentiles_us = stats.durations.percentiles_us();
        let [p50, p75, p90, p95, p99] =
            [0, 1, 2, 3, 4].map(|index| Some(micros_to_seconds(percentiles_us?[index])));
        Self {
            uptime_percent: ratio_percent(stats.uptime_counts()),
            availability_percent: ratio_percent(stats.availability_counts()),
            response_time: stats.mean_response_us().map(micros_to_seconds),
            response_time_p50: p50,
            response_time_p75: p75,
            response_time_p90: p90,
            response_time_p95: p95,
            response_time_p99: p99,
            runs_up: stats.runs_up,
            runs_down: stats.runs_down,
            ok: stats.checks_with(Outcome::Ok),
            warning: stats.checks_with(Outcome::Warning),
            error: stats.checks_with(Outcome::Error),
            unknown: stats.checks_with(Outcome::Unknown),
            missed: stats.checks_with(Outcome::Missed),
            blackout: stats.checks_with(Outcome::Blackout),
            suppressed: stats.suppressed_checks,
            excluded: stats.excluded_checks,
        }
    }
}

impl GoalReport {
    /// Builds a goal in percent; `passed_and_total` returns the passed and the total number. `burn_rate_stats` are
    /// the last hour, six hours, day and three days, where the report is long enough.
    pub(super) fn from_ratio(
        name: &'static str,
        objective: SlaObjective,
        passed_and_total: impl Fn(&SlaStats) -> (u64, u64),
        total: &SlaStats,
        burn_rate_stats: &[Option<SlaStats>; 4],
    ) -> Self {
        let status = objective.status(passed_and_total(total));
        let budget = objective.error_budget(passed_and_total(total));
        let burn_rate = |stats: &Option<SlaStats>| {
            objective.burn_rate(passed_and_total(stats.as_ref()?)).map(round_to_thousandths)
        };
        let [burn_rate_1h, burn_rate_6h, burn_rate_24h, burn_rate_72h] =
            burn_rate_stats.each_ref().map(burn_rate);
        Self {
            name,
            target: objective.as_percent(),
            achieved: status.achieved_percent,
            is_met: status.is_met,
            budget: Some(ErrorBudgetReport {
                allowed_failures: round_to_thousandths(budget.allowed_failures),
                failures: budget.failures,
                remaining_percent: budget.remaining_percent.map(round_to_thousandths),
                burn_rate: objective.burn_rate(passed_and_total(total)).map(round_to_thousandths),
                burn_rate_1h,
                burn_rate_6h,
                burn_rate_24h,
                burn_rate_72h,
            }),
        }
    }

    /// Builds the goal of a mean time.
    pub(super) fn from_response_time(goal: f64, total: &SlaStats) -> Self {
        let mean_response_time = total.mean_response_us().map(micros_to_seconds);
        let met = mean_response_time.is_none_or(|mean_response_time| mean_response_time <= goal);
        Self { name: "response_time", target: goal, achieved: mean_response_time, is_met: met, budget: None }
    }
}

fn micros_to_seconds(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}

fn round_to_thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl SlaReport {
    /// Formats its periods and their total as CSV (RFC 4180): only numbers and times, nothing that a spreadsheet
    /// executes.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "period,from,thru,uptime_percent,availability_percent,response_time,runs_up,runs_down,\
             ok,warning,error,unknown,missed,blackout,excluded,suppressed,response_time_p50,\
             response_time_p75,response_time_p90,response_time_p95,response_time_p99\r\n",
        );
        for PeriodRow { period, from, until: thru, stats: row } in &self.periods {
            push_csv_line(&mut text, period, *from, *thru, row);
        }
        push_csv_line(&mut text, "total", self.from, self.until, &self.total);
        text
    }
}

fn push_csv_line(text: &mut String, period: &str, from: Timestamp, until: Timestamp, row: &SlaStatsRow) {
    let format_number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let (uptime, availability) = (format_number(row.uptime_percent), format_number(row.availability_percent));
    let response = format_number(row.response_time);
    let percentiles = [
        row.response_time_p50,
        row.response_time_p75,
        row.response_time_p90,
        row.response_time_p95,
        row.response_time_p99,
    ];
    let percentiles = percentiles.map(format_number).join(",");
    let SlaStatsRow { runs_up, runs_down, ok, warning, error, unknown, missed, blackout, suppressed, .. } =
        row;
    let excluded = row.excluded;
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "{period},{from},{until},{uptime},{availability},{response},{runs_up},{runs_down},\
         {ok},{warning},{error},{unknown},{missed},{blackout},{excluded},{suppressed},{percentiles}\r\n"
    );
}
