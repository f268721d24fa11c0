//! `GET /rollups`: statistics of a monitor by minute, hour and day (behaviour.md 1). The shape is Vigie's own.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::response_schemas as schema;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::parse_id;
use crate::api::query::{QueryParams, quoted_list};
use crate::api::state::ApiState;
use crate::domain::{LocationId, MonitorId, Permission, Phase, RollupStep};
use crate::service::{Caller, ROLLUP_FIELDS, RollupRequest, rollup_rows};

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation = Operation::new(
        OperationMethod::Get,
        "/rollups",
        "listRollups",
        "results",
        "Runs, durations, phases and browser figures of a monitor by minute, hour or day, for each location; oldest first",
    )
    .with_permission(Some(Permission::ViewReports))
    .with_query_params(&[
        Param::new("monitor_id", ParamType::Int(1), "The monitor, which may be removed").required(),
        Param::new("location_id", ParamType::Int(1), "At this location only"),
        Param::new(
            "from",
            ParamType::Time,
            "Steps that start then or later; by default a day, a week or 90 days before `thru`, depending on `step`",
        ),
        Param::new("thru", ParamType::Time, "Steps that start earlier; now by default"),
        Param::new("step", ParamType::Choice(&RollupStep::NAMES), "Length of a step, UTC; an hour by default"),
        Param::new("fields", ParamType::ChoiceList(&ROLLUP_FIELDS), "Figures to return; all by default"),
    ])
    .with_paging()
    .with_response(ResponseSpec::JsonSchema(schema::list_schema("RollupList", row_schema())));
    router.route(operation, list_rollups)
}

async fn list_rollups(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    if query.value("monitor_id").is_none() {
        query.push_error("`monitor_id` is required: `GET /monitors` lists the ids");
    }
    let monitor_id = query.parse_value("monitor_id", "an id", |text| parse_id(text).map(MonitorId));
    let location = query.parse_value("location_id", "an id", |text| parse_id(text).map(LocationId));
    let (from, until) = super::records::parse_time_range(&mut query, &zone);
    let step_requirement = format!("one of {}", quoted_list(&RollupStep::NAMES));
    let step = query.parse_value("step", step_requirement, RollupStep::from_name).unwrap_or_default();
    let field_requirement = format!("one or several of {}", quoted_list(&ROLLUP_FIELDS));
    let fields = query.parse_comma_list("fields", field_requirement, |name| {
        ROLLUP_FIELDS.into_iter().find(|field| *field == name)
    });
    let paging = query.paging();
    query.into_result()?;
    let Some(monitor_id) = monitor_id else { return Err(ApiError::not_found()) };
    let request = Arc::new(RollupRequest { monitor_id, location, step, from, until, fields });
    let query = request.to_query(&caller, state.clock.now())?;
    let monitor_reader = state.monitor_reader;
    list_response::stream_pages(
        caller.role,
        paging,
        |_last_sent_id, _id| true,
        move |page| {
            let (monitor_reader, request) = (Arc::clone(&monitor_reader), Arc::clone(&request));
            async move { rollup_rows(&monitor_reader, &request, query, page).await }
        },
    )
    .await
}

fn row_schema() -> Value {
    let count = |description: &str| json!({"type": "integer", "minimum": 0, "description": description});
    let nullable =
        |description: &str| json!({"type": ["integer", "null"], "minimum": 0, "description": description});
    let percentile = |number: u8| nullable(&format!("Percentile {number} of the same, exact to 1 %"));
    let phases: serde_json::Map<String, Value> = Phase::ALL
        .map(|phase| (phase.key().to_owned(), count("Mean, in microseconds")))
        .into_iter()
        .collect();
    let mut phases = schema::named_object_schema("RollupPhases", &[], Value::Object(phases));
    phases["type"] = json!(["object", "null"]);
    phases["description"] = json!("Mean of each phase over the same runs; null when none was recorded");
    let mut views = json!({"type": ["array", "null"], "items": view_schema()});
    views["description"] = json!("Content views of a browser script; null when none was recorded");
    schema::named_object_schema(
        "Rollup",
        &["monitor_id", "location_id", "at"],
        json!({
            "monitor_id": schema::integer_schema("The monitor"),
            "location_id": schema::integer_schema("The location"),
            "at": schema::timestamp_schema("Start of the minute, hour or day"),
            "ok": count("Runs that were ok"),
            "warning": count("Runs with a warning"),
            "error": count("Runs with an error"),
            "unknown": count("Runs with an unknown outcome"),
            "missed": count("Runs that did not happen"),
            "blackout": count("Runs that a blackout suppressed"),
            "mean_us": nullable("Mean duration of ok and warning runs, in microseconds; null without one"),
            "p50_us": percentile(50), "p75_us": percentile(75), "p90_us": percentile(90),
            "p95_us": percentile(95), "p99_us": percentile(99),
            "phases": phases,
            "user_experience": experience_schema(),
            "views": views,
        }),
    )
}

fn experience_schema() -> Value {
    let mean = |what: &str| json!({"type": ["integer", "null"], "minimum": 0, "description": format!("Mean {what}, in microseconds")});
    let shift =
        json!({"type": ["number", "null"], "description": "Mean cumulative layout shift, without unit"});
    let mut experience = schema::named_object_schema(
        "RollupUserExperience",
        &[
            "pages",
            "first_paint_us",
            "first_contentful_paint_us",
            "largest_contentful_paint_us",
            "layout_shift",
            "dom_load_us",
            "page_load_us",
        ],
        json!({
            "pages": schema::integer_schema("Pages that browsers measured"),
            "first_paint_us": mean("first paint"),
            "first_contentful_paint_us": mean("first contentful paint"),
            "largest_contentful_paint_us": mean("largest contentful paint"),
            "layout_shift": shift,
            "dom_load_us": mean("`DOMContentLoaded`"),
            "page_load_us": mean("event `load`"),
        }),
    );
    experience["type"] = json!(["object", "null"]);
    experience["description"] =
        json!("What browsers measured of pages in ok and warning runs; null when nothing was recorded");
    experience
}

fn view_schema() -> Value {
    let mean = |what: &str| {
        let description = format!("Mean {what} in the runs in which the view passed; null without one");
        json!({"type": ["integer", "null"], "minimum": 0, "description": description})
    };
    schema::named_object_schema(
        "RollupView",
        &["id", "name", "runs", "errors", "mean_us", "objects", "bytes"],
        json!({
            "id": schema::integer_schema("Id of the content view"),
            "name": {"type": ["string", "null"], "description": "Its name; null when the monitor has it no more"},
            "runs": schema::integer_schema("Runs with the view"),
            "errors": schema::integer_schema("Those in which it failed"),
            "mean_us": mean("time, in microseconds"),
            "objects": mean("number of objects"),
            "bytes": mean("size of its objects after decoding"),
        }),
    )
}
