//! `GET /slas/{id}/report`, as JSON and as CSV (behaviour.md 1 and 7). The shapes are Vigie's own.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::response_schemas as schema;
use crate::api::error::ApiError;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::{QueryParams, TIME_REQUIREMENT};
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::service::{Caller, Granularity, SlaQuery, SlaReport};

const GRANULARITIES: [&str; 3] = ["hour", "day", "month"];

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let report_operation = |path, operation_id, summary| {
        Operation::new(OperationMethod::Get, path, operation_id, "slas", summary)
            .with_permission(Some(Permission::ViewReports))
            .with_path_param(Param::new("id", ParamType::Int(1), "Id of the agreement"))
            .with_query_params(&[
                Param::new(
                    "from",
                    ParamType::Time,
                    "Start of the report; by default that of the current day, month or year, depending on `by`",
                ),
                Param::new("thru", ParamType::Time, "End of the report; now by default and at most"),
                Param::new(
                    "by",
                    ParamType::Choice(&GRANULARITIES),
                    "Length of a period; at most 1000 periods, days by default",
                ),
            ])
    };
    let summary = "Figures of an agreement: uptime, availability, response time, error budget and burn rate";
    let json_operation = report_operation("/slas/{id}/report", "getSlaReport", summary)
        .with_response(ResponseSpec::JsonSchema(report_schema()));
    let summary = "The same figures by period, as CSV";
    let csv_operation = report_operation("/slas/{id}/report.csv", "getSlaReportCsv", summary)
        .with_response(ResponseSpec::File);
    router.route(json_operation, get_json_report).route(csv_operation, get_csv_report)
}

async fn get_json_report(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    query: QueryParams,
) -> Result<Response, ApiError> {
    Ok(Json(compute_report(&state, &caller, id, query).await?).into_response())
}

async fn get_csv_report(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    query: QueryParams,
) -> Result<Response, ApiError> {
    let csv = compute_report(&state, &caller, id, query).await?.to_csv();
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"sla-{id}.csv\"")),
    ];
    Ok((headers, csv).into_response())
}

async fn compute_report(
    state: &ApiState,
    caller: &Caller,
    id: i64,
    mut query: QueryParams,
) -> Result<SlaReport, ApiError> {
    let zone = state.record_service.time_zone(caller).await?;
    let parse_time = |text: &str| crate::api::query::parse_time_in_zone(&zone, text);
    let request = SlaQuery {
        from: query.parse_value("from", TIME_REQUIREMENT, parse_time),
        until: query.parse_value("thru", TIME_REQUIREMENT, parse_time),
        granularity: query
            .parse_value("by", "one of `hour`, `day`, `month`", Granularity::parse)
            .unwrap_or_default(),
    };
    query.into_result()?;
    Ok(state.record_service.sla_report(caller, id, request, &state.monitor_reader).await?)
}

fn nullable_number_schema(description: &str) -> Value {
    json!({"type": ["number", "null"], "description": description})
}

fn count_schema(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

/// Names of the figures that totals, locations and periods of a report share.
const FIGURE_FIELDS: [&str; 18] = [
    "uptime_percent",
    "availability_percent",
    "response_time",
    "response_time_p50",
    "response_time_p75",
    "response_time_p90",
    "response_time_p95",
    "response_time_p99",
    "runs_up",
    "runs_down",
    "ok",
    "warning",
    "error",
    "unknown",
    "missed",
    "blackout",
    "suppressed",
    "excluded",
];

/// Returns the schema of an object with the properties `own_properties`, followed by the figures.
fn figures_schema(name: &str, own_properties: Value) -> Value {
    let mut properties = own_properties;
    let mut required: Vec<&str> = Vec::new();
    let figure_properties = json!({
        "uptime_percent": nullable_number_schema("Percent of runs in which any location passed; null without a conclusive run"),
        "availability_percent": nullable_number_schema("Percent of checks that passed; null without one"),
        "response_time": nullable_number_schema("Mean seconds of checks that passed, over locations"),
        "response_time_p50": nullable_number_schema("Their median, over all locations, exact to 1 %"),
        "response_time_p75": nullable_number_schema("Percentile 75"),
        "response_time_p90": nullable_number_schema("Percentile 90"),
        "response_time_p95": nullable_number_schema("Percentile 95"),
        "response_time_p99": nullable_number_schema("Percentile 99"),
        "runs_up": count_schema("Runs in which any location passed"),
        "runs_down": count_schema("Runs in which none did and one failed"),
        "ok": count_schema("Checks that passed"),
        "warning": count_schema("Checks that passed with a warning"),
        "error": count_schema("Checks that failed"),
        "unknown": count_schema("Inconclusive checks"),
        "missed": count_schema("Missed checks"),
        "blackout": count_schema("Checks that a blackout prevented"),
        "suppressed": count_schema("Failed checks, counted as `error` too, while a monitor that it depends on was down"),
        "excluded": count_schema("Checks out of operating periods, in exclusions or blackouts"),
    });
    if let (Value::Object(properties), Value::Object(figure_properties)) =
        (&mut properties, figure_properties)
    {
        properties.extend(figure_properties);
    }
    let property_names: Vec<String> =
        properties.as_object().map(|properties| properties.keys().cloned().collect()).unwrap_or_default();
    required.extend(property_names.iter().map(String::as_str).filter(|key| !FIGURE_FIELDS.contains(key)));
    required.extend(FIGURE_FIELDS);
    schema::named_object_schema(name, &required, properties)
}

fn goal_schema() -> Value {
    let burn_rate_schema = |about: &str| {
        nullable_number_schema(&format!("Burn rate {about}: rate of failures relative to the allowed rate"))
    };
    let budget_schema = schema::named_object_schema(
        "SlaBudget",
        &[
            "allowed",
            "used",
            "left_percent",
            "burn_rate",
            "burn_rate_1h",
            "burn_rate_6h",
            "burn_rate_24h",
            "burn_rate_72h",
        ],
        json!({
            "allowed": {"type": "number", "description": "Checks (runs, for an uptime goal) that may fail"},
            "used": count_schema("Those that did"),
            "left_percent": nullable_number_schema("What is left; below 0 when the goal is missed, null when nothing may fail"),
            "burn_rate": burn_rate_schema("over all"),
            "burn_rate_1h": burn_rate_schema("in the last hour"),
            "burn_rate_6h": burn_rate_schema("in the last six hours"),
            "burn_rate_24h": burn_rate_schema("in the last day"),
            "burn_rate_72h": burn_rate_schema("in the last three days"),
        }),
    );
    schema::named_object_schema(
        "SlaGoal",
        &["goal", "wanted", "reached", "met"],
        json!({
            "goal": {"type": "string", "enum": ["availability", "uptime", "response_time"]},
            "wanted": {"type": "number", "description": "Agreed value, in percent or seconds"},
            "reached": nullable_number_schema("Achieved value; null when nothing was counted"),
            "met": {"type": "boolean", "description": "Whether the goal is met"},
            "budget": budget_schema,
        }),
    )
}

fn event_marker_schema() -> Value {
    schema::named_object_schema(
        "EventMarker",
        &["id", "event", "name", "value", "quantity", "timestamp"],
        json!({
            "id": schema::integer_schema("Its id, for `/events/{id}`"),
            "event": schema::string_schema("Its type"),
            "name": schema::string_schema("Label of its type"),
            "value": {"type": ["string", "null"], "description": "Its value; null without one"},
            "quantity": schema::integer_schema("How many"),
            "timestamp": schema::timestamp_schema("When it was reported"),
        }),
    )
}

fn report_schema() -> Value {
    let period_properties = json!({
        "period": schema::string_schema("Such as `2026-11-20`, in the account's time zone"),
        "from": schema::timestamp_schema("Its start"), "thru": schema::timestamp_schema("Its end, which is not in it"),
    });
    let location_properties = json!({
        "location_id": schema::integer_schema("Which"), "name": schema::string_schema("Its name; empty when it no longer exists"),
    });
    let blackout_schema = schema::named_object_schema(
        "SlaBlackout",
        &["type", "from", "thru"],
        json!({
            "type": {"type": "string", "enum": ["Monitor", "Alert"]},
            "from": schema::timestamp_schema("Its start"), "thru": schema::timestamp_schema("Its end"),
        }),
    );
    let array_schema = |items: Value| json!({"type": "array", "items": items});
    schema::named_object_schema(
        "SlaReport",
        &[
            "sla_id",
            "name",
            "monitor_id",
            "monitor_name",
            "time_zone",
            "by",
            "from",
            "thru",
            "data_from",
            "complete",
            "counted_s",
            "goals",
            "total",
            "locations",
            "pieces",
            "blackouts",
            "events",
        ],
        json!({
            "sla_id": schema::integer_schema("The agreement"),
            "name": schema::string_schema("Its name"),
            "monitor_id": schema::integer_schema("The monitor"),
            "monitor_name": schema::string_schema("Its current name; empty when it no longer exists"),
            "time_zone": schema::string_schema("Time zone of the periods"),
            "by": {"type": "string", "enum": GRANULARITIES},
            "from": schema::timestamp_schema("Its start"),
            "thru": schema::timestamp_schema("Its end, which is not in it"),
            "data_from": {"type": ["string", "null"], "format": "date-time",
                "description": "Time of the oldest stored result; null without one"},
            "complete": {"type": "boolean", "description": "Whether all results of the time range are still stored"},
            "counted_s": count_schema("Seconds of operating periods without exclusions and blackouts"),
            "goals": array_schema(goal_schema()),
            "total": figures_schema("SlaFigures", json!({})),
            "locations": array_schema(figures_schema("SlaLocation", location_properties)),
            "pieces": array_schema(figures_schema("SlaPiece", period_properties)),
            "blackouts": array_schema(blackout_schema),
            "events": array_schema(event_marker_schema()),
        }),
    )
}
