//! The report of an agreement, as JSON and CSV show it. Shares are percent with three decimals, rounded down;
//! times are UTC, names of pieces are in the account's time zone.

use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};
use crate::evaluate::sla::{SlaObjective, SlaStats, ratio_percent};

/// The report of an agreement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlaReport {
    /// Number of the agreement.
    pub sla_id: i64,
    /// Its name.
    pub name: String,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its name now; empty when it is gone.
    pub monitor_name: String,
    /// Zone of the pieces.
    pub time_zone: String,
    /// `hour`, `day` or `month`.
    pub by: &'static str,
    /// Its start.
    pub from: Timestamp,
    /// Its end, which is not in it; not later than now.
    pub thru: Timestamp,
    /// The oldest result that is still kept; `null` without one.
    pub data_from: Option<Timestamp>,
    /// Whether nothing of the time was removed already; what is gone is counted nowhere.
    pub complete: bool,
    /// Seconds that count: operating periods without exclusions and blackouts.
    pub counted_s: u64,
    /// How its goals stand.
    pub goals: Vec<GoalReport>,
    /// Over all.
    pub total: FiguresRow,
    /// By location.
    pub locations: Vec<LocationRow>,
    /// By piece.
    pub pieces: Vec<PeriodRow>,
    /// Blackouts of the monitor in the time, which do not count.
    pub blackouts: Vec<BlackoutRow>,
}

/// How a goal stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalReport {
    /// `availability`, `uptime` or `response_time`.
    pub goal: &'static str,
    /// What was agreed: percent, or seconds.
    pub wanted: f64,
    /// What was reached; `null` when nothing was counted.
    pub reached: Option<f64>,
    /// Whether that is enough.
    pub met: bool,
    /// What may fail; of goals in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
}

/// What may fail before a goal is missed, and how fast that is used up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetReport {
    /// Checks, or runs of an uptime, that may fail.
    pub allowed: f64,
    /// Those that did.
    pub used: u64,
    /// Percent that is left; below 0 when the goal is missed, `null` when nothing may fail.
    pub left_percent: Option<f64>,
    /// How many times faster than allowed failures came, over all.
    pub burn_rate: Option<f64>,
    /// In the last hour of the report.
    pub burn_rate_1h: Option<f64>,
    /// In its last six hours.
    pub burn_rate_6h: Option<f64>,
    /// In its last day.
    pub burn_rate_24h: Option<f64>,
    /// In its last three days.
    pub burn_rate_72h: Option<f64>,
}

/// Figures of a time or location.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FiguresRow {
    /// Percent of runs in which any location passed.
    pub uptime_percent: Option<f64>,
    /// Percent of checks that passed.
    pub availability_percent: Option<f64>,
    /// Mean seconds of checks that passed, over locations.
    pub response_time: Option<f64>,
    /// Runs in which any location passed.
    pub runs_up: u64,
    /// Runs in which none did and one failed.
    pub runs_down: u64,
    /// Checks that passed.
    pub ok: u64,
    /// Checks that passed with a reservation.
    pub warning: u64,
    /// Checks that failed.
    pub error: u64,
    /// Checks that say nothing of the target.
    pub unknown: u64,
    /// Checks that did not happen.
    pub missed: u64,
    /// Checks that a blackout left out.
    pub blackout: u64,
    /// Checks that do not count.
    pub excluded: u64,
}

/// A piece of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeriodRow {
    /// Such as `2026-11-20`.
    pub period: String,
    /// Its start.
    pub from: Timestamp,
    /// Its end, which is not in it.
    pub thru: Timestamp,
    /// Its figures.
    #[serde(flatten)]
    pub row: FiguresRow,
}

/// A location.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocationRow {
    /// Which.
    pub location_id: LocationId,
    /// Its name; empty when it is gone.
    pub name: String,
    /// Its figures; a run there is its check.
    #[serde(flatten)]
    pub row: FiguresRow,
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
    pub thru: Timestamp,
}

impl FiguresRow {
    pub(super) fn from_figures(stats: &SlaStats) -> Self {
        Self {
            uptime_percent: ratio_percent(stats.uptime()),
            availability_percent: ratio_percent(stats.availability()),
            response_time: stats.mean_response_us().map(seconds),
            runs_up: stats.runs_up,
            runs_down: stats.runs_down,
            ok: stats.checks_with(Outcome::Ok),
            warning: stats.checks_with(Outcome::Warning),
            error: stats.checks_with(Outcome::Error),
            unknown: stats.checks_with(Outcome::Unknown),
            missed: stats.checks_with(Outcome::Missed),
            blackout: stats.checks_with(Outcome::Blackout),
            excluded: stats.excluded,
        }
    }
}

impl GoalReport {
    /// A goal in percent; `counted` says what passed of what was counted. `tails` are those of the last hour, six
    /// hours, day and three days, as far as the report reaches back so long.
    pub(super) fn percent_goal(
        name: &'static str,
        objective: SlaObjective,
        counted: impl Fn(&SlaStats) -> (u64, u64),
        total: &SlaStats,
        tails: &[Option<SlaStats>; 4],
    ) -> Self {
        let status = objective.status(counted(total));
        let budget = objective.error_budget(counted(total));
        let burned = |stats: &Option<SlaStats>| {
            objective.burn_rate(counted(stats.as_ref()?)).map(round_to_thousandths)
        };
        let [burn_rate_1h, burn_rate_6h, burn_rate_24h, burn_rate_72h] = tails.each_ref().map(burned);
        Self {
            goal: name,
            wanted: objective.as_percent(),
            reached: status.achieved_percent,
            met: status.met,
            budget: Some(BudgetReport {
                allowed: round_to_thousandths(budget.allowed),
                used: budget.used,
                left_percent: budget.remaining_percent.map(round_to_thousandths),
                burn_rate: objective.burn_rate(counted(total)).map(round_to_thousandths),
                burn_rate_1h,
                burn_rate_6h,
                burn_rate_24h,
                burn_rate_72h,
            }),
        }
    }

    /// The goal of a mean time.
    pub(super) fn response_goal(wanted: f64, total: &SlaStats) -> Self {
        let reached = total.mean_response_us().map(seconds);
        let met = reached.is_none_or(|reached| reached <= wanted);
        Self { goal: "response_time", wanted, reached, met, budget: None }
    }
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}

fn round_to_thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl SlaReport {
    /// Its pieces and their sum as CSV (RFC 4180): numbers and times alone, nothing that a spreadsheet would run.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "period,from,thru,uptime_percent,availability_percent,response_time,runs_up,runs_down,\
             ok,warning,error,unknown,missed,blackout,excluded\r\n",
        );
        for PeriodRow { period, from, thru, row } in &self.pieces {
            push_csv_line(&mut text, period, *from, *thru, row);
        }
        push_csv_line(&mut text, "total", self.from, self.thru, &self.total);
        text
    }
}

fn push_csv_line(text: &mut String, period: &str, from: Timestamp, thru: Timestamp, row: &FiguresRow) {
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let (uptime, availability) = (number(row.uptime_percent), number(row.availability_percent));
    let response = number(row.response_time);
    let FiguresRow { runs_up, runs_down, ok, warning, error, unknown, missed, blackout, excluded, .. } = row;
    // Writing to a text does not fail.
    let _ = write!(
        text,
        "{period},{from},{thru},{uptime},{availability},{response},{runs_up},{runs_down},\
         {ok},{warning},{error},{unknown},{missed},{blackout},{excluded}\r\n"
    );
}
