//! GET and POST `/tests`, GET `/tests/{id}`: tests on demand, out of schedule.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::api::error::ApiError;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, parse_id};
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::{LocationId, MonitorId, Permission};
use crate::schema::table::records::ON_DEMAND_TEST;
use crate::service::{Caller, on_demand_test_url};

const START_PARAMS: &[Param] = &[
    Param::new("monitor_id", ParamType::Int(1), "The monitor to test").required(),
    Param::new(
        "location_id",
        ParamType::Int(1),
        "Location to test from; the monitor's home location when absent",
    ),
];

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let summary = "Start an unscheduled check, excluded from history, alerts and SLAs";
    let start_operation = |method, operation_id| {
        Operation::new(method, "/tests", operation_id, "tests", summary)
            .with_permission(Some(Permission::Edit))
            .with_query_params(START_PARAMS)
            .with_response(ResponseSpec::JsonSchema(started_test_schema()))
            .with_additional_status(404, "The monitor does not exist in this account")
            .with_additional_status(
                409,
                "The monitor does not permit unscheduled checks (`allow_internal_testing`)",
            )
            .with_additional_status(429, "Too many tests of this account are running")
    };
    let get_operation =
        Operation::new(OperationMethod::Get, "/tests/{id}", "getTest", "tests", "One test on demand")
            .with_permission(Some(Permission::View))
            .with_response(ResponseSpec::Object(&ON_DEMAND_TEST));
    router
        .route(start_operation(OperationMethod::Post, "startTest"), start_test)
        .route(start_operation(OperationMethod::Get, "startTestByGet"), start_test)
        .route(get_operation, get_test)
}

async fn start_test(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    method: Method,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    // HEAD is a safe method and must start nothing (RFC 9110, 9.2.1).
    if method == Method::HEAD {
        return Ok(StatusCode::OK.into_response());
    }
    let monitor_id = query.parse_value("monitor_id", "an id", parse_id);
    let location_id = query.parse_value("location_id", "an id", parse_id);
    if query.value("monitor_id").is_none() {
        query.push_error("`monitor_id` is required");
    }
    query.into_result()?;
    let Some(monitor_id) = monitor_id else { return Err(ApiError::not_found()) };
    let test_id =
        state.on_demand_tests.start(&caller, MonitorId(monitor_id), location_id.map(LocationId)).await?;
    Ok(Json(json!({"id": test_id.to_string(), "result_url": on_demand_test_url(test_id)})).into_response())
}

async fn get_test(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    Ok(Json(state.on_demand_tests.get(&caller, id).await?).into_response())
}

fn started_test_schema() -> Value {
    json!({
        "title": "StartedTest",
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Id of the test"},
            "result_url": {"type": "string", "format": "uri-reference", "description": "Path of its result"},
        },
        "required": ["id", "result_url"],
    })
}
