//! `/monitors/{id}/push-token` and `/monitors/{id}/push`: the token of a pushed monitor, and its last push.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::operation::{Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::state::ApiState;
use crate::domain::{MonitorId, Permission};
use crate::schema::table::hosts::PUSH_TOKEN;
use crate::service::Caller;

const TAG: &str = "monitors";

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation =
        |method, path, operation_id, summary| Operation::new(method, path, operation_id, TAG, summary);
    let create = operation(
        OperationMethod::Post,
        "/monitors/{id}/push-token",
        "createPushToken",
        "A new token for the push URL of a monitor, in place of its last one; shown this once",
    )
    .with_permission(Some(Permission::Edit))
    .with_response(ResponseSpec::SavedId { create_response_fields: Some(&PUSH_TOKEN) })
    .with_additional_status(409, "`report` of the monitor is not push");
    let revoke = operation(
        OperationMethod::Delete,
        "/monitors/{id}/push-token",
        "revokePushToken",
        "Revoke the push token of a monitor: its URL leads nowhere from then on",
    )
    .with_permission(Some(Permission::Edit))
    .with_additional_status(409, "`report` of the monitor is not push");
    let state =
        operation(OperationMethod::Get, "/monitors/{id}/push", "getPush", "The last push of a monitor")
            .with_response(ResponseSpec::JsonSchema(push_schema()));
    router.route(create, create_token).route(revoke, revoke_token).route(state, get_push)
}

fn push_schema() -> Value {
    let time = json!({"type": ["string", "null"], "format": "date-time"});
    json!({
        "title": "Push",
        "type": "object",
        "properties": {
            "token_created_at": time,
            "running_since": {"type": ["string", "null"], "description": "When the job that runs now started"},
            "last": {
                "title": "LastPush",
                "type": ["object", "null"],
                "properties": {
                    "status": {"type": "string", "enum": ["up", "down"]},
                    "received_at": {"type": "string", "format": "date-time"},
                    "message": {"type": "string"},
                    "ping_ms": {"type": ["number", "null"]},
                    "exit_code": {"type": ["integer", "null"]},
                    "output": {"type": "string", "description": "Last lines of the job"},
                },
            },
        },
    })
}

async fn create_token(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(state.push_service.create_token(&caller, MonitorId(id)).await?))
}

async fn revoke_token(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<StatusCode, ApiError> {
    state.push_service.revoke_token(&caller, MonitorId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn get_push(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(state.push_service.state(&caller, MonitorId(id)).await?))
}
