//! `GET /slas/{id}/report`, as JSON and as CSV (behaviour.md 1 and 7). The shapes are Vigie's own.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::json_schema as schema;
use crate::api::error::ApiError;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::service::{Caller, Granularity, SlaQuery, SlaReport};

const GRANULARITIES: [&str; 3] = ["hour", "day", "month"];

pub(super) fn add_routes(routes: OperationRouter) -> OperationRouter {
    let operation = |path, id, about| {
        Operation::new(OperationMethod::Get, path, id, "slas", about)
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
    let about = "Figures of an agreement: uptime, availability, response time, error budget and burn rate";
    let as_json = operation("/slas/{id}/report", "getSlaReport", about)
        .with_response(ResponseSpec::JsonSchema(report_schema()));
    let about = "The same figures by period, as CSV";
    let as_csv =
        operation("/slas/{id}/report.csv", "getSlaReportCsv", about).with_response(ResponseSpec::File);
    routes.route(as_json, get_json_report).route(as_csv, get_csv_report)
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
    let text = compute_report(&state, &caller, id, query).await?.to_csv();
    let fields = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"sla-{id}.csv\"")),
    ];
    Ok((fields, text).into_response())
}

async fn compute_report(
    state: &ApiState,
    caller: &Caller,
    id: i64,
    mut query: QueryParams,
) -> Result<SlaReport, ApiError> {
    let zone = state.records.time_zone(caller).await?;
    let time_rule =
        "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let time = |text: &str| crate::api::query::parse_time_in_zone(&zone, text);
    let request = SlaQuery {
        from: query.parse_value("from", time_rule, time),
        until: query.parse_value("thru", time_rule, time),
        granularity: query
            .parse_value("by", "one of `hour`, `day`, `month`", Granularity::parse)
            .unwrap_or_default(),
    };
    query.into_result()?;
    Ok(state.records.sla_report(caller, id, request, &state.status_queries).await?)
}

fn nullable_number_schema(about: &str) -> Value {
    json!({"type": ["number", "null"], "description": about})
}

fn count_schema(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": about})
}

const FIGURE_FIELDS: [&str; 12] = [
    "uptime_percent",
    "availability_percent",
    "response_time",
    "runs_up",
    "runs_down",
    "ok",
    "warning",
    "error",
    "unknown",
    "missed",
    "blackout",
    "excluded",
];

/// Returns the schema of an object with the properties `own`, followed by the figures.
fn figures_schema(name: &str, own: Value) -> Value {
    let mut properties = own;
    let mut required: Vec<&str> = Vec::new();
    let all = json!({
        "uptime_percent": nullable_number_schema("Percent of runs in which any location passed; null without a conclusive run"),
        "availability_percent": nullable_number_schema("Percent of checks that passed; null without one"),
        "response_time": nullable_number_schema("Mean seconds of checks that passed, over locations"),
        "runs_up": count_schema("Runs in which any location passed"),
        "runs_down": count_schema("Runs in which none did and one failed"),
        "ok": count_schema("Checks that passed"),
        "warning": count_schema("Checks that passed with a warning"),
        "error": count_schema("Checks that failed"),
        "unknown": count_schema("Inconclusive checks"),
        "missed": count_schema("Missed checks"),
        "blackout": count_schema("Checks that a blackout prevented"),
        "excluded": count_schema("Checks out of operating periods, in exclusions or blackouts"),
    });
    if let (Value::Object(properties), Value::Object(all)) = (&mut properties, all) {
        properties.extend(all);
    }
    let own: Vec<String> =
        properties.as_object().map(|own| own.keys().cloned().collect()).unwrap_or_default();
    required.extend(own.iter().map(String::as_str).filter(|key| !FIGURE_FIELDS.contains(key)));
    required.extend(FIGURE_FIELDS);
    schema::named_object_schema(name, &required, properties)
}

fn goal_schema() -> Value {
    let rate = |about: &str| {
        nullable_number_schema(&format!("Burn rate {about}: rate of failures relative to the allowed rate"))
    };
    let budget = schema::named_object_schema(
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
            "burn_rate": rate("over all"),
            "burn_rate_1h": rate("in the last hour"),
            "burn_rate_6h": rate("in the last six hours"),
            "burn_rate_24h": rate("in the last day"),
            "burn_rate_72h": rate("in the last three days"),
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
            "budget": budget,
        }),
    )
}

fn report_schema() -> Value {
    let period = json!({
        "period": schema::string_schema("Such as `2026-11-20`, in the account's time zone"),
        "from": schema::timestamp_schema("Its start"), "thru": schema::timestamp_schema("Its end, which is not in it"),
    });
    let location = json!({
        "location_id": schema::integer_schema("Which"), "name": schema::string_schema("Its name; empty when it no longer exists"),
    });
    let blackout = schema::named_object_schema(
        "SlaBlackout",
        &["type", "from", "thru"],
        json!({
            "type": {"type": "string", "enum": ["Monitor", "Alert"]},
            "from": schema::timestamp_schema("Its start"), "thru": schema::timestamp_schema("Its end"),
        }),
    );
    let list = |items: Value| json!({"type": "array", "items": items});
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
            "goals": list(goal_schema()),
            "total": figures_schema("SlaFigures", json!({})),
            "locations": list(figures_schema("SlaLocation", location)),
            "pieces": list(figures_schema("SlaPiece", period)),
            "blackouts": list(blackout),
        }),
    )
}
