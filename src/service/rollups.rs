//! `GET /rollups`: statistics of a monitor by minute, hour and day.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::caller::{Caller, ServiceError};
use super::monitor_reader::MonitorReader;
use crate::domain::{
    ContentViewFigures, LocationId, MAX_ROLLUP_STEPS, MonitorId, Outcome, Paginated, Pagination, Permission,
    Phases, Rollup, RollupQuery, RollupStep, Timestamp, UserExperience,
};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Keys that every row has; the others can be selected.
const KEY_FIELDS: [&str; 3] = ["monitor_id", "location_id", "at"];

/// Statistics of a monitor at a location in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RollupRow {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Start of the minute, hour or day.
    pub at: Timestamp,
    /// Runs that were ok.
    pub ok: u64,
    /// Runs with a warning.
    pub warning: u64,
    /// Runs with an error.
    pub error: u64,
    /// Runs with an unknown outcome.
    pub unknown: u64,
    /// Runs that did not happen.
    pub missed: u64,
    /// Runs that a blackout suppressed.
    pub blackout: u64,
    /// Mean duration of the runs that were ok or a warning; `None` without one.
    pub mean_us: Option<u64>,
    /// Their median, exact to 1 %, as the other percentiles.
    pub p50_us: Option<u64>,
    /// Percentile 75.
    pub p75_us: Option<u64>,
    /// Percentile 90.
    pub p90_us: Option<u64>,
    /// Percentile 95.
    pub p95_us: Option<u64>,
    /// Percentile 99.
    pub p99_us: Option<u64>,
    /// Mean of each phase over the same runs; `None` when none was recorded.
    pub phases: Option<Phases>,
    /// What browsers measured of pages in the same runs; `None` when nothing was recorded.
    pub user_experience: Option<UserExperience>,
    /// Content views of all runs; `None` when none was recorded.
    pub views: Option<Vec<ContentViewFigures>>,
}

/// Fields of [`RollupRow`] that can be selected, in their order.
pub const ROLLUP_FIELDS: [&str; 15] = [
    "ok",
    "warning",
    "error",
    "unknown",
    "missed",
    "blackout",
    "mean_us",
    "p50_us",
    "p75_us",
    "p90_us",
    "p95_us",
    "p99_us",
    "phases",
    "user_experience",
    "views",
];

/// What is requested.
#[derive(Clone, Debug)]
pub struct RollupRequest {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Only at this location.
    pub location: Option<LocationId>,
    /// Width of the steps.
    pub step: RollupStep,
    /// Steps that start at or after; by default a day, a week or 90 days before `until`, depending on `step`.
    pub from: Option<Timestamp>,
    /// Steps that start before; by default now.
    pub until: Option<Timestamp>,
    /// Those of [`ROLLUP_FIELDS`] that rows have; empty for all.
    pub fields: Vec<&'static str>,
}

impl RollupRow {
    /// Builds the row of `rollup`.
    #[must_use]
    pub fn from_rollup(rollup: Rollup) -> Self {
        let run_count = |outcome: Outcome| rollup.runs_by_outcome[usize::from(outcome.code())];
        let percentile = |index: usize| Some(rollup.duration_percentiles_us?[index]);
        Self {
            monitor_id: rollup.monitor_id,
            location_id: rollup.location_id,
            at: rollup.start,
            ok: run_count(Outcome::Ok),
            warning: run_count(Outcome::Warning),
            error: run_count(Outcome::Error),
            unknown: run_count(Outcome::Unknown),
            missed: run_count(Outcome::Missed),
            blackout: run_count(Outcome::Blackout),
            mean_us: rollup.mean_duration_us,
            p50_us: percentile(0),
            p75_us: percentile(1),
            p90_us: percentile(2),
            p95_us: percentile(3),
            p99_us: percentile(4),
            phases: rollup.mean_phases,
            user_experience: rollup.user_experience,
            views: Some(rollup.views).filter(|views| !views.is_empty()),
        }
    }

    /// Returns its runs by outcome, in the order of [`Outcome::ALL`].
    #[must_use]
    pub const fn runs_by_outcome(&self) -> [u64; 6] {
        [self.ok, self.warning, self.error, self.unknown, self.missed, self.blackout]
    }
}

impl RollupRequest {
    /// Returns the query of this request at `now`, for the account of `caller`.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`]; [`ServiceError::Invalid`] for an empty time range and for too many steps.
    pub fn to_query(&self, caller: &Caller, now: Timestamp) -> Result<RollupQuery, ServiceError> {
        caller.require_permission(Permission::ViewReports)?;
        Ok(RollupQuery {
            customer: Some(caller.customer),
            ..self.to_query_for_any_account(now).map_err(|error| ServiceError::Invalid(vec![*error]))?
        })
    }

    /// Returns the query of this request at `now`, for any account.
    ///
    /// # Errors
    /// Fails for an empty time range and for too many steps.
    pub fn to_query_for_any_account(&self, now: Timestamp) -> Result<RollupQuery, Box<ValidationError>> {
        let until = self.until.unwrap_or(now);
        let from = self.from.unwrap_or_else(|| self.step.start_of(until) - default_range_length(self.step));
        if from >= until {
            return Err(Box::new(invalid_range_error("from", "`from` must be before `thru`".to_owned())));
        }
        let steps = until.since(from).as_micros().div_ceil(self.step.width().as_micros());
        if steps > u128::from(MAX_ROLLUP_STEPS) {
            let message = format!(
                "the time range has {steps} steps of a {}, more than {MAX_ROLLUP_STEPS}; request a shorter range or a \
                 longer `step`",
                self.step.name()
            );
            return Err(Box::new(invalid_range_error("step", message)));
        }
        Ok(RollupQuery {
            monitor_id: self.monitor_id,
            customer: None,
            location: self.location,
            step: self.step,
            from,
            until,
            with_browser_figures: self.has_field("user_experience") || self.has_field("views"),
        })
    }

    fn has_field(&self, name: &str) -> bool {
        self.fields.is_empty() || self.fields.contains(&name)
    }
}

/// Returns how long before `until` a request begins by default.
const fn default_range_length(step: RollupStep) -> Duration {
    Duration::from_hours(match step {
        RollupStep::Minute => 24,
        RollupStep::Hour => 7 * 24,
        RollupStep::Day => 90 * 24,
    })
}

/// Returns one page of the rows that `query` selects, with the fields of `request`, oldest first.
///
/// # Errors
/// [`ServiceError::NotFound`] when the account has no such monitor; errors of the store.
pub async fn rollup_rows(
    monitor_reader: &MonitorReader,
    request: &RollupRequest,
    query: RollupQuery,
    page: Pagination,
) -> Result<Paginated<Map<String, Value>>, ServiceError> {
    let points = monitor_reader.rollup_points(query, page).await?.ok_or(ServiceError::NotFound)?;
    let view_names = view_names(monitor_reader, query.monitor_id);
    let to_object = |mut rollup: Rollup| {
        for view in &mut rollup.views {
            view.name = view_names.iter().find(|(id, _)| *id == view.id).map(|(_, name)| name.clone());
        }
        let mut object = match serde_json::to_value(RollupRow::from_rollup(rollup)) {
            Ok(Value::Object(object)) => object,
            // Cannot happen: it is an object of numbers and texts.
            _ => Map::new(),
        };
        object.retain(|name, _| KEY_FIELDS.contains(&name.as_str()) || request.has_field(name));
        object
    };
    Ok(Paginated { total: points.total, items: points.items.into_iter().map(to_object).collect() })
}

/// Returns the ids and names of the content views that the monitor has now.
fn view_names(monitor_reader: &MonitorReader, monitor: MonitorId) -> Vec<(i64, String)> {
    let Some(monitor) = monitor_reader.monitor(monitor) else { return Vec::new() };
    let views = monitor.document.value("content_views").and_then(Value::as_array);
    let to_name = |view: &Value| Some((view.get("id")?.as_i64()?, view.get("name")?.as_str()?.to_owned()));
    views.map(|views| views.iter().filter_map(to_name).collect()).unwrap_or_default()
}

fn invalid_range_error(field: &str, message: String) -> ValidationError {
    ValidationError::new(ValidationErrorKind::Conflict, field, Position::default(), message)
}
