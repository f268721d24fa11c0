//! `GET /report-sitestatus`: the last status of every monitor per location (behaviour.md 1). The shape is
//! Vigie's own: one object per monitor, by id, with the locations that reported results.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use futures::stream;
use serde::Serialize;
use serde_json::{Value, json};

use super::monitors::monitor_type_names;
use super::response_schemas as schema;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::parse_id;
use crate::api::query::{QueryParams, quoted_list};
use crate::api::state::ApiState;
use crate::domain::{
    CheckId, Location, LocationId, MonitorId, MonitorLocationState, MonitorType, Outcome, Permission, Status,
    StoreError, Timestamp,
};
use crate::schema::Monitor;
use crate::service::{Caller, OverallHealth};

/// How many monitors are read and sent at a time.
const MAX_CHUNK_MONITORS: usize = 500;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation = Operation::new(
        OperationMethod::Get,
        "/report-sitestatus",
        "getSiteStatus",
        "results",
        "Last status of every monitor per location",
    )
    .with_permission(Some(Permission::ViewReports))
    .with_query_params(&[
        Param::new("type", ParamType::ChoiceList(monitor_type_names()), "Of these types only"),
        Param::new("monitor_id", ParamType::IdList, "Of these monitors only"),
    ])
    .with_paging()
    .with_response(ResponseSpec::JsonSchema(schema::list_schema("SiteStatusList", site_status_schema())));
    router.route(operation, get_site_status)
}

fn site_status_schema() -> Value {
    let location_schema = schema::named_object_schema(
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
            "location_id": schema::integer_schema("Where the check ran"),
            "location_name": {"type": ["string", "null"], "description": "Null when the location no longer exists"},
            "check_id": schema::hex_id_schema("The result, for `/results/{id}`"),
            "outcome": schema::outcome_schema(),
            "status": schema::integer_schema("Status code"),
            "status_text": schema::string_schema("Text of the status code"),
            "total_us": schema::duration_us_schema("How long the check took"),
            "planned_at": schema::timestamp_schema("When the run was due"),
            "since": schema::timestamp_schema("Planned time of the first run in the current series of equal outcomes"),
            "streak": schema::integer_schema("Runs in that series"),
        }),
    );
    schema::named_object_schema(
        "SiteStatus",
        &["monitor_id", "monitor_name", "type", "enabled", "paused_until", "state", "locations"],
        json!({
            "monitor_id": schema::integer_schema("The monitor"),
            "monitor_name": schema::string_schema("Its name"),
            "type": {"type": "string", "enum": monitor_type_names()},
            "enabled": {"type": "boolean"},
            "paused_until": {"type": ["string", "null"], "format": "date-time",
                "description": "End of the pause; null when it is not paused"},
            "state": {"type": "string", "enum": OverallHealth::ALL.map(OverallHealth::as_str),
                "description": "Health over all locations, by location mode: `down` while an outage is open"},
            "locations": {"type": "array", "items": location_schema,
                "description": "By location; empty before the first run"},
        }),
    )
}

#[derive(Serialize)]
struct SiteStatusRow<'a> {
    monitor_id: MonitorId,
    monitor_name: &'a str,
    #[serde(rename = "type")]
    monitor_type: MonitorType,
    enabled: bool,
    paused_until: Option<Timestamp>,
    state: &'static str,
    locations: Vec<LastResultRow<'a>>,
}

#[derive(Serialize)]
struct LastResultRow<'a> {
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

async fn get_site_status(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let type_requirement = format!("one or several of {}", quoted_list(MonitorType::ALL));
    let monitor_types = query.parse_comma_list("type", type_requirement, MonitorType::from_name);
    let monitor_ids = query
        .parse_comma_list("monitor_id", "an id or a comma list of ids", |text| parse_id(text).map(MonitorId));
    let paging = query.paging();
    query.into_result()?;
    let customer = caller.customer;
    let matches_filter = move |monitor: &Monitor| {
        monitor.customer == customer
            && (monitor_types.is_empty() || monitor_types.contains(&monitor.monitor_type()))
            && (monitor_ids.is_empty() || monitor_ids.contains(&monitor.id))
    };
    let locations = state.record_service.available_locations(&caller).await?;
    let (total_count, first_id) =
        state.monitor_service.count_and_nth_match(paging.offset.unwrap_or(0), &matches_filter);
    let remaining = paging.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let reader = SiteStatusReader { state, locations, matches_filter, next_id: first_id, remaining };
    // Read the first chunk before the response starts, so that an error has its own status.
    let (first_chunk, reader) = reader.next_chunk().await?;
    let chunks = stream::try_unfold((Some(first_chunk), reader), |(first_chunk, reader)| async move {
        match first_chunk {
            Some(chunk) => Ok(Some((chunk, (None, reader)))),
            None if reader.next_id.is_none() => Ok(None),
            None => reader.next_chunk().await.map(|(chunk, reader)| Some((chunk, (None, reader)))),
        }
    });
    Ok(list_response::stream_list::<StoreError>(caller.role, total_count, paging, chunks))
}

/// Iterates the monitors by id. Monitors added or removed meanwhile do not shift the others.
struct SiteStatusReader<F> {
    state: ApiState,
    locations: BTreeMap<i64, Location>,
    matches_filter: F,
    /// First id of the next chunk; `None` after the last one.
    next_id: Option<MonitorId>,
    /// How many more monitors `limit` permits.
    remaining: usize,
}

impl<F: Fn(&Monitor) -> bool> SiteStatusReader<F> {
    async fn next_chunk(mut self) -> Result<(Vec<u8>, Self), StoreError> {
        let max_monitors = self.remaining.min(MAX_CHUNK_MONITORS);
        let first_id = self.next_id.take().filter(|_| max_monitors > 0);
        let Some(first_id) = first_id else { return Ok((Vec::new(), self)) };
        let monitors = self.state.monitor_service.list_from(first_id, max_monitors, &self.matches_filter);
        self.remaining -= monitors.len();
        if monitors.len() == max_monitors && self.remaining > 0 {
            self.next_id = monitors.last().map(|last| MonitorId(last.id.0 + 1));
        }
        let states =
            self.state.monitor_reader.states_for(monitors.iter().map(|monitor| monitor.id).collect()).await?;
        let mut rows_by_monitor: BTreeMap<MonitorId, Vec<LastResultRow<'_>>> = BTreeMap::new();
        for state in states {
            rows_by_monitor
                .entry(state.monitor_id)
                .or_default()
                .push(last_result_row(&self.locations, &state));
        }
        let now = self.state.clock.now();
        let chunk = list_response::json_chunk(monitors.iter().map(|monitor| SiteStatusRow {
            monitor_id: monitor.id,
            monitor_name: monitor.name(),
            monitor_type: monitor.monitor_type(),
            enabled: monitor.enabled(),
            paused_until: monitor.paused_until(now),
            state: self.state.monitor_reader.overall_health(monitor, now).as_str(),
            locations: rows_by_monitor.remove(&monitor.id).unwrap_or_default(),
        }));
        drop(rows_by_monitor);
        Ok((chunk, self))
    }
}

fn last_result_row<'a>(
    locations: &'a BTreeMap<i64, Location>,
    state: &MonitorLocationState,
) -> LastResultRow<'a> {
    LastResultRow {
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
