//! `GET /report-sitestatus`: the last status of every monitor per location (behaviour.md 1). The shape is
//! Vigie's own: one object per monitor, by id, with the locations that reported results.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use futures::stream;
use serde::Serialize;
use serde_json::{Value, json};

use super::json_schema as schema;
use super::monitors::type_names;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{Operation, Param, ParamKind, ResponseSpec, Verb};
use crate::api::operation_router::OperationRouter;
use crate::api::path::parse_id;
use crate::api::query::{QueryParams, quoted_list};
use crate::api::state::ApiState;
use crate::domain::{
    CheckId, Location, LocationId, MonitorId, MonitorState, MonitorType, Outcome, Permission, Status,
    StoreError, Timestamp,
};
use crate::schema::Monitor;
use crate::service::{Caller, OverallHealth};

/// How many monitors are read and sent at a time.
const CHUNK_MONITORS: usize = 500;

pub(super) fn routes(routes: OperationRouter) -> OperationRouter {
    let report = Operation::new(
        Verb::Get,
        "/report-sitestatus",
        "getSiteStatus",
        "results",
        "Last status of every monitor per location",
    )
    .with_right(Some(Permission::ViewReports))
    .with_query(&[
        Param::new("type", ParamKind::Choices(type_names()), "Of these types only"),
        Param::new("monitor_id", ParamKind::Ids, "Of these monitors only"),
    ])
    .with_paging()
    .with_response(ResponseSpec::Schema(schema::list_schema("SiteStatusList", monitor_schema())));
    routes.route(report, get)
}

fn monitor_schema() -> Value {
    let location = schema::named_object(
        "SiteStatusPlace",
        &[
            "location_id",
            "location_name",
            "check_id",
            "outcome",
            "status",
            "status_text",
            "total_us",
            "planned_at",
            "since",
            "streak",
        ],
        json!({
            "location_id": schema::integer("Where the check ran"),
            "location_name": {"type": ["string", "null"], "description": "Null when the location no longer exists"},
            "check_id": schema::hex_id("The result, for `/results/{id}`"),
            "outcome": schema::outcome(),
            "status": schema::integer("Status code"),
            "status_text": schema::text("Text of the status code"),
            "total_us": schema::micros("How long the check took"),
            "planned_at": schema::timestamp("When the run was due"),
            "since": schema::timestamp("Planned time of the first run in the current series of equal outcomes"),
            "streak": schema::integer("Runs in that series"),
        }),
    );
    schema::named_object(
        "SiteStatus",
        &["monitor_id", "monitor_name", "type", "enabled", "paused_until", "state", "locations"],
        json!({
            "monitor_id": schema::integer("The monitor"),
            "monitor_name": schema::text("Its name"),
            "type": {"type": "string", "enum": type_names()},
            "enabled": {"type": "boolean"},
            "paused_until": {"type": ["string", "null"], "format": "date-time",
                "description": "End of the pause; null when it is not paused"},
            "state": {"type": "string", "enum": OverallHealth::ALL.map(OverallHealth::as_str),
                "description": "Health over all locations, by location mode: `down` while an outage is open"},
            "locations": {"type": "array", "items": location,
                "description": "By location; empty before the first run"},
        }),
    )
}

#[derive(Serialize)]
struct SiteStatusRow<'a> {
    monitor_id: MonitorId,
    monitor_name: &'a str,
    #[serde(rename = "type")]
    kind: MonitorType,
    enabled: bool,
    paused_until: Option<Timestamp>,
    state: &'static str,
    locations: Vec<LocationStatus<'a>>,
}

#[derive(Serialize)]
struct LocationStatus<'a> {
    location_id: LocationId,
    location_name: Option<&'a str>,
    check_id: CheckId,
    outcome: Outcome,
    status: Status,
    status_text: &'static str,
    total_us: u64,
    planned_at: Timestamp,
    since: Timestamp,
    streak: u32,
}

async fn get(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let types = format!("one or several of {}", quoted_list(MonitorType::ALL));
    let kinds = query.parse_list("type", types, MonitorType::from_name);
    let ids =
        query.parse_list("monitor_id", "an id or a comma list of ids", |text| parse_id(text).map(MonitorId));
    let window = query.paging();
    query.into_result()?;
    let customer = caller.customer;
    let fits = move |monitor: &Monitor| {
        monitor.customer == customer
            && (kinds.is_empty() || kinds.contains(&monitor.monitor_type()))
            && (ids.is_empty() || ids.contains(&monitor.id))
    };
    let locations = state.records.available_locations(&caller).await?;
    let (count, first) = state.monitors.count_and_find(window.offset.unwrap_or(0), &fits);
    let left = window.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let reader = MonitorReader { state, locations, fits, next: first, left };
    // Read the first chunk before the response starts, so that an error has its own status.
    let (first_chunk, reader) = reader.read_chunk().await?;
    let rest = stream::try_unfold((Some(first_chunk), reader), |(first_chunk, reader)| async move {
        match first_chunk {
            Some(chunk) => Ok(Some((chunk, (None, reader)))),
            None if reader.next.is_none() => Ok(None),
            None => reader.read_chunk().await.map(|(chunk, reader)| Some((chunk, (None, reader)))),
        }
    });
    Ok(list_response::stream_list::<StoreError>(caller.role, count, window, rest))
}

/// Iterates the monitors by id. Monitors added or removed meanwhile do not shift the others.
struct MonitorReader<F> {
    state: ApiState,
    locations: BTreeMap<i64, Location>,
    fits: F,
    next: Option<MonitorId>,
    left: usize,
}

impl<F: Fn(&Monitor) -> bool> MonitorReader<F> {
    async fn read_chunk(mut self) -> Result<(Vec<u8>, Self), StoreError> {
        let max = self.left.min(CHUNK_MONITORS);
        let from = self.next.take().filter(|_| max > 0);
        let Some(from) = from else { return Ok((Vec::new(), self)) };
        let monitors = self.state.monitors.list_from(from, max, &self.fits);
        self.left -= monitors.len();
        if monitors.len() == max && self.left > 0 {
            self.next = monitors.last().map(|last| MonitorId(last.id.0 + 1));
        }
        let states =
            self.state.queries.states_for(monitors.iter().map(|monitor| monitor.id).collect()).await?;
        let mut statuses: BTreeMap<MonitorId, Vec<LocationStatus<'_>>> = BTreeMap::new();
        for state in states {
            statuses.entry(state.monitor_id).or_default().push(location_status(&self.locations, &state));
        }
        let now = self.state.clock.now();
        let chunk = list_response::json_chunk(monitors.iter().map(|monitor| SiteStatusRow {
            monitor_id: monitor.id,
            monitor_name: monitor.name(),
            kind: monitor.monitor_type(),
            enabled: monitor.enabled(),
            paused_until: monitor.paused_until(now),
            state: self.state.queries.overall_health(monitor, now).as_str(),
            locations: statuses.remove(&monitor.id).unwrap_or_default(),
        }));
        drop(statuses);
        Ok((chunk, self))
    }
}

fn location_status<'a>(locations: &'a BTreeMap<i64, Location>, state: &MonitorState) -> LocationStatus<'a> {
    LocationStatus {
        location_id: state.location_id,
        location_name: locations.get(&state.location_id.0).map(|location| location.name.as_str()),
        check_id: state.check_id,
        outcome: state.outcome,
        status: state.status,
        status_text: state.status.text(),
        total_us: state.duration_us,
        planned_at: state.planned_at,
        since: state.streak_started_at,
        streak: state.streak,
    }
}
