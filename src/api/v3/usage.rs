//! `GET /usage`, as JSON and as CSV (behaviour.md 1). The shapes are Vigie's own.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::response_schemas as schema;
use crate::api::error::ApiError;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::query::{QueryParams, TIME_REQUIREMENT};
use crate::api::state::ApiState;
use crate::domain::{Permission, UsageGrouping};
use crate::service::{Caller, UsageReport, UsageRequest, usage_report};

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation = |path, operation_id, summary| {
        Operation::new(OperationMethod::Get, path, operation_id, "usage", summary)
            .with_permission(Some(Permission::ViewReports))
            .with_query_params(&[
                Param::new(
                    "from",
                    ParamType::Time,
                    "In the first day, UTC; by default the start of the month",
                ),
                Param::new("thru", ParamType::Time, "End; its day is counted whole; now by default"),
                Param::new(
                    "by",
                    ParamType::Choice(&UsageGrouping::NAMES),
                    "What checks are counted by; plans by default",
                ),
            ])
    };
    let summary = "How many checks ran, by billing plan, type, location or monitor";
    let json_operation =
        operation("/usage", "getUsage", summary).with_response(ResponseSpec::JsonSchema(usage_schema()));
    let csv_operation =
        operation("/usage.csv", "getUsageCsv", "The same, as CSV").with_response(ResponseSpec::File);
    router.route(json_operation, get_json).route(csv_operation, get_csv)
}

async fn get_json(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    query: QueryParams,
) -> Result<Response, ApiError> {
    Ok(Json(compute_usage_report(&state, &caller, query).await?).into_response())
}

async fn get_csv(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    query: QueryParams,
) -> Result<Response, ApiError> {
    let csv = compute_usage_report(&state, &caller, query).await?.to_csv();
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"usage.csv\""),
    ];
    Ok((headers, csv).into_response())
}

async fn compute_usage_report(
    state: &ApiState,
    caller: &Caller,
    mut query: QueryParams,
) -> Result<UsageReport, ApiError> {
    let zone = state.record_service.time_zone(caller).await?;
    let parse_time = |text: &str| crate::api::query::parse_time_in_zone(&zone, text);
    let request = UsageRequest {
        from: query.parse_value("from", TIME_REQUIREMENT, parse_time),
        until: query.parse_value("thru", TIME_REQUIREMENT, parse_time),
        by: query
            .parse_value("by", "one of `plan`, `type`, `location`, `monitor`", UsageGrouping::from_name)
            .unwrap_or_default(),
    };
    query.into_result()?;
    let sources = (&*state.monitor_reader, &**state.monitor_service.account_cache());
    Ok(usage_report(caller, request, sources, state.clock.now()).await?)
}

fn usage_schema() -> Value {
    let count = |description: &str| json!({"type": "integer", "minimum": 0, "description": description});
    let row = schema::named_object_schema(
        "UsageRow",
        &["key", "name", "checks"],
        json!({
            "key": schema::string_schema("Code of the plan, type, or id of the location or monitor"),
            "name": schema::string_schema("Its name; empty for a location or monitor that no longer exists"),
            "checks": count("Checks that ran: ok, warning, error and unknown"),
        }),
    );
    schema::named_object_schema(
        "UsageReport",
        &["by", "from", "thru", "total", "rows"],
        json!({
            "by": {"type": "string", "enum": UsageGrouping::NAMES},
            "from": schema::timestamp_schema("Start of the first day"),
            "thru": schema::timestamp_schema("End of the last day, which is not in it"),
            "total": count("Checks over all rows"),
            "rows": {"type": "array", "items": row},
        }),
    )
}
