//! GET and POST `/tests`, GET `/tests/{id}`: checks out of schedule.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::api::error::ApiError;
use crate::api::operation::{Answer, Operation, Param, ParamKind, Verb};
use crate::api::path::{Id, number};
use crate::api::query::Query;
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::domain::{LocationId, MonitorId, Permission};
use crate::schema::table::records::TEST;
use crate::service::{Caller, result_url};

const PARAMS: &[Param] = &[
    Param::new("monitor_id", ParamKind::Int(1), "The monitor to test").required(),
    Param::new("location_id", ParamKind::Int(1), "Where; its home location when absent"),
];

pub(super) fn routes(routes: Routes) -> Routes {
    let about = "Start a check out of schedule, which stays out of history, alerts and SLAs";
    let start = |method, id| {
        Operation::new(method, "/tests", id, "tests", about)
            .right(Some(Permission::Edit))
            .query(PARAMS)
            .answer(Answer::Schema(started_schema()))
            .or(404, "The account has no such monitor")
            .or(409, "The monitor does not permit checks out of schedule (`allow_internal_testing`)")
            .or(429, "Too many tests of the account run already")
    };
    let one = Operation::new(Verb::Get, "/tests/{id}", "getTest", "tests", "One test on demand")
        .right(Some(Permission::View))
        .answer(Answer::One(&TEST));
    routes
        .on(start(Verb::Post, "startTest"), begin)
        .on(start(Verb::Get, "startTestByGet"), begin)
        .on(one, get)
}

async fn begin(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    method: Method,
    mut query: Query,
) -> Result<Response, ApiError> {
    // Whoever only asks for the head of an answer starts nothing (RFC 9110, 9.2.1).
    if method == Method::HEAD {
        return Ok(StatusCode::OK.into_response());
    }
    let monitor = query.one("monitor_id", "an id", number);
    let location = query.one("location_id", "an id", number);
    if query.text("monitor_id").is_none() {
        query.fault("`monitor_id` is required");
    }
    query.finish()?;
    let Some(monitor) = monitor else { return Err(ApiError::not_found()) };
    let id = state.trials.start(&caller, MonitorId(monitor), location.map(LocationId)).await?;
    Ok(Json(json!({"id": id.to_string(), "result_url": result_url(id)})).into_response())
}

async fn get(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, ApiError> {
    Ok(Json(state.trials.get(&caller, id).await?).into_response())
}

fn started_schema() -> Value {
    json!({
        "title": "StartedTest",
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Number of the test"},
            "result_url": {"type": "string", "format": "uri-reference", "description": "Where its outcome is found"},
        },
        "required": ["id", "result_url"],
    })
}
