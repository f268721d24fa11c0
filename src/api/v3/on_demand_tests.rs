//! GET and POST `/tests`, GET `/tests/{id}`: tests on demand, out of schedule.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::api::body::OptionalJsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, parse_id};
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::{LocationId, MonitorId, MonitorType, Permission};
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::operations::TEST_ORDER;
use crate::schema::table::records::ON_DEMAND_TEST;
use crate::schema::typed::request::{TestOrderRequest, parse_request_fields};
use crate::service::monitors::{self, DraftOf};
use crate::service::{Caller, ServiceError, on_demand_test_url};
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, truncate_value};

const START_PARAMS: &[Param] = &[
    Param::new("monitor_id", ParamType::Int(1), "The monitor to test; required without a body"),
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
    let start_with_body = start_operation(OperationMethod::Post, "startTest")
        .with_body(BodySpec::Patch(&TEST_ORDER))
        .with_optional_body();
    router
        .route(start_with_body, start_test_with_body)
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
    Ok(started(test_id))
}

/// Starts the test that the body describes, or the query when the body is empty.
async fn start_test_with_body(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    method: Method,
    query: QueryParams,
    OptionalJsonBody(body): OptionalJsonBody,
) -> Result<Response, ApiError> {
    if !matches!(body.value, NodeValue::Map(_)) {
        return Err(ApiError::bad_request(vec!["The body must be a JSON object".to_owned()]));
    }
    if body.entries().is_empty() {
        return start_test(State(state), Extension(caller), method, query).await;
    }
    query.into_result()?;
    let order = read_order(&body)?;
    let location = order.location_id.map(LocationId);
    let id = order.monitor_id.map(MonitorId);
    let test_id = match (body.get("monitor").filter(|monitor| !monitor.is_null()), id) {
        (Some(monitor), id) => {
            let draft_of = match id {
                Some(id) => DraftOf::Change(id, None),
                None => DraftOf::New(new_monitor_type(monitor)?),
            };
            let draft = monitors::draft(&state.monitor_service, &caller, draft_of, monitor).await?;
            state.on_demand_tests.start_draft(&caller, draft.monitor, location).await?
        }
        (None, Some(id)) => state.on_demand_tests.start(&caller, id, location).await?,
        (None, None) => {
            let message = "The body has neither `monitor_id` nor `monitor`";
            return Err(ApiError::bad_request(vec![message.to_owned()]));
        }
    };
    Ok(started(test_id))
}

/// Reads the order in `body`, without the monitor that it may hold.
fn read_order(body: &Node) -> Result<TestOrderRequest, ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_fields(&TEST_ORDER, body, &[], false);
    if !reader.errors.is_empty() {
        return Err(ServiceError::Invalid(reader.errors));
    }
    parse_request_fields(&TEST_ORDER, &fields).map_err(|error| ServiceError::Invalid(vec![error.into()]))
}

/// Returns the type of a new monitor.
fn new_monitor_type(monitor: &Node) -> Result<MonitorType, ServiceError> {
    let name = monitor.get("type").and_then(Node::as_text);
    name.and_then(MonitorType::from_name).ok_or_else(|| {
        let message = match name {
            Some(name) => format!("`monitor.type` must be a monitor type, not `{}`", truncate_value(name)),
            None => "`monitor.type` is required without `monitor_id`".to_owned(),
        };
        let error =
            ValidationError::new(ValidationErrorKind::Choice, "monitor.type", monitor.position, message);
        let known_types = MonitorType::ALL.iter().map(|monitor_type| monitor_type.name());
        ServiceError::Invalid(vec![match name.and_then(|name| closest_match(name, known_types)) {
            Some(closest) => error.with_hint(format!("did you mean `{closest}`?")),
            None => error,
        }])
    })
}

fn started(test_id: i64) -> Response {
    Json(json!({"id": test_id.to_string(), "result_url": on_demand_test_url(test_id)})).into_response()
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
