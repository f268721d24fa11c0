//! GET `/notifications`, POST `/notifications/{id}/retry`, POST `/test-notifiers`, POST `/templates/preview`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Map, Value};

use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{Answer, Body, Operation, Param, ParamKind, Verb};
use crate::api::path::{Id, number};
use crate::api::query::{Query, words};
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::api::{etag, list};
use crate::domain::{EpisodeId, MonitorId, NotificationFilter, NotificationState, Permission, RecipientId};
use crate::schema::table::alerting::{
    NOTIFICATION, NOTIFICATION_STATES, RENDERED_PREVIEW, TEMPLATE_PREVIEW, TEST_NOTIFIER,
};
use crate::service::Caller;

const PARAMS: &[Param] = &[
    Param::new(
        "state",
        ParamKind::Choice(NOTIFICATION_STATES),
        "In this state; `dead` are those that were given up",
    ),
    Param::new("monitor_id", ParamKind::Int(1), "About this monitor"),
    Param::new("episode_id", ParamKind::Int(1), "About this outage"),
    Param::new("recipient_id", ParamKind::Int(1), "To this recipient"),
];

pub(super) fn routes(routes: Routes) -> Routes {
    let on = |method, path, id, about| Operation::new(method, path, id, "notifications", about);
    let all = on(Verb::Get, "/notifications", "listNotifications", "Messages, newest first")
        .query(PARAMS)
        .paged()
        .answer(Answer::List(vec![&NOTIFICATION]));
    let one = on(Verb::Get, "/notifications/{id}", "getNotification", "One message")
        .answer(Answer::One(&NOTIFICATION));
    let about = "Send a message that was given up once more";
    let retry = on(Verb::Post, "/notifications/{id}/retry", "retryNotification", about)
        .right(Some(Permission::Edit))
        .answer(Answer::One(&NOTIFICATION))
        .or(409, "The message was not given up");
    let about = "Send a test alert; its `id` is found under /notifications";
    let test = on(Verb::Post, "/test-notifiers", "testNotifier", about)
        .right(Some(Permission::Edit))
        .body(Body::Create(&TEST_NOTIFIER))
        .answer(Answer::Saved(None));
    let about = "What a template makes of an example; nothing is kept or sent";
    let preview = Operation::new(Verb::Post, "/templates/preview", "previewTemplate", "templates", about)
        .right(Some(Permission::Edit))
        .body(Body::Create(&TEMPLATE_PREVIEW))
        .answer(Answer::One(&RENDERED_PREVIEW));
    routes.on(all, many).on(one, get).on(retry, again).on(test, send).on(preview, try_out)
}

async fn many(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: Query,
) -> Result<Response, ApiError> {
    let filter = NotificationFilter {
        state: query.one(
            "state",
            format!("one of {}", words(NOTIFICATION_STATES)),
            NotificationState::from_name,
        ),
        monitor: query.one("monitor_id", "an id", number).map(MonitorId),
        episode: query.one("episode_id", "an id", number).map(EpisodeId),
        recipient: query.one("recipient_id", "an id", number).map(RecipientId),
        ..NotificationFilter::default()
    };
    let shown = query.window();
    query.finish()?;
    let (role, alerting) = (caller.role, state.alerting);
    let newest_first = |last, id| id < last;
    list::paged(role, shown, newest_first, move |page| {
        let (alerting, caller, filter) = (Arc::clone(&alerting), caller.clone(), filter.clone());
        async move { alerting.notifications(&caller, filter, page).await }
    })
    .await
}

async fn get(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alerting.notification(&caller, id).await?))
}

async fn again(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alerting.retry(&caller, id).await?))
}

async fn send(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved(state.alerting.send_test_notification(&caller, &body).await?))
}

async fn try_out(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alerting.preview_template(&caller, &body).await?))
}
