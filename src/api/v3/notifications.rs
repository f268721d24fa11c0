//! GET `/notifications`, POST `/notifications/{id}/retry`, POST `/test-notifiers`, POST `/templates/preview`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Map, Value};

use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, parse_id};
use crate::api::query::{QueryParams, quoted_list};
use crate::api::state::ApiState;
use crate::api::{etag, list_response};
use crate::domain::{EpisodeId, MonitorId, NotificationFilter, NotificationState, Permission, RecipientId};
use crate::schema::table::alerting::{
    NOTIFICATION, NOTIFICATION_STATES, RENDERED_PREVIEW, TEMPLATE_PREVIEW_REQUEST, TEST_NOTIFICATION,
};
use crate::service::Caller;

const FILTER_PARAMS: &[Param] = &[
    Param::new("state", ParamType::Choice(NOTIFICATION_STATES), "In this state; `dead` means given up"),
    Param::new("monitor_id", ParamType::Int(1), "About this monitor"),
    Param::new("episode_id", ParamType::Int(1), "About this outage"),
    Param::new("recipient_id", ParamType::Int(1), "To this recipient"),
];

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation = |method, path, operation_id, summary| {
        Operation::new(method, path, operation_id, "notifications", summary)
    };
    let list_operation =
        operation(OperationMethod::Get, "/notifications", "listNotifications", "Notifications, newest first")
            .with_query_params(FILTER_PARAMS)
            .with_paging()
            .with_response(ResponseSpec::List(vec![&NOTIFICATION]));
    let get_operation =
        operation(OperationMethod::Get, "/notifications/{id}", "getNotification", "One notification")
            .with_response(ResponseSpec::Object(&NOTIFICATION));
    let summary = "Retry a notification that was given up";
    let retry_operation =
        operation(OperationMethod::Post, "/notifications/{id}/retry", "retryNotification", summary)
            .with_permission(Some(Permission::Edit))
            .with_response(ResponseSpec::Object(&NOTIFICATION))
            .with_additional_status(409, "The notification was not given up");
    let summary = "Send a test notification; `id` is that of the notification";
    let test_operation = operation(OperationMethod::Post, "/test-notifiers", "testNotifier", summary)
        .with_permission(Some(Permission::Edit))
        .with_body(BodySpec::Create(&TEST_NOTIFICATION))
        .with_response(ResponseSpec::SavedId { create_response_fields: None });
    let summary = "Render a template with example data; nothing is stored or sent";
    let preview_operation =
        Operation::new(OperationMethod::Post, "/templates/preview", "previewTemplate", "templates", summary)
            .with_permission(Some(Permission::Edit))
            .with_body(BodySpec::Create(&TEMPLATE_PREVIEW_REQUEST))
            .with_response(ResponseSpec::Object(&RENDERED_PREVIEW));
    router
        .route(list_operation, list_notifications)
        .route(get_operation, get_notification)
        .route(retry_operation, retry_notification)
        .route(test_operation, send_test_notification)
        .route(preview_operation, preview_template)
}

async fn list_notifications(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let filter = NotificationFilter {
        state: query.parse_value(
            "state",
            format!("one of {}", quoted_list(NOTIFICATION_STATES)),
            NotificationState::from_name,
        ),
        monitor: query.parse_value("monitor_id", "an id", parse_id).map(MonitorId),
        episode: query.parse_value("episode_id", "an id", parse_id).map(EpisodeId),
        recipient: query.parse_value("recipient_id", "an id", parse_id).map(RecipientId),
        ..NotificationFilter::default()
    };
    let paging = query.paging();
    query.into_result()?;
    let (role, alerts) = (caller.role, state.alert_service);
    let is_older = |last, id| id < last;
    list_response::stream_pages(role, paging, is_older, move |page| {
        let (alerts, caller, filter) = (Arc::clone(&alerts), caller.clone(), filter.clone());
        async move { alerts.notifications(&caller, filter, page).await }
    })
    .await
}

async fn get_notification(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alert_service.notification(&caller, id).await?))
}

async fn retry_notification(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alert_service.retry_notification(&caller, id).await?))
}

async fn send_test_notification(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(state.alert_service.send_test_notification(&caller, &body).await?))
}

async fn preview_template(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alert_service.preview_template(&caller, &body).await?))
}
