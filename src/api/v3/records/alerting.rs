//! The calls on what alerting is set up with: recipients, groups, templates, agreements, performance alerts; and
//! when a blackout holds next.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;

use super::calls::Calls;
use super::rights::EDIT;
use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{Answer, Body, Operation, Param, ParamKind, Verb};
use crate::api::path::{Id, Under};
use crate::api::query::{Query, time_in};
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::api::v3::bulk::edited;
use crate::api::{etag, list as lists};
use crate::domain::{MonitorId, Permission, RecordKind, StoreError};
use crate::schema::table::alerting::{
    BLACKOUT_OCCURRENCE, NOTIFIER_GROUP, PERFORMANCE_ALERT, RECIPIENT, SLA, SLA_BULK_EDIT, TEMPLATE,
};
use crate::schema::table::orders::BULK_EDIT_RESULT;
use crate::service::Caller;

const PERFORMANCE: RecordKind = RecordKind::PerformanceAlert;

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = recipients(routes);
    let routes = groups(routes);
    let routes = templates(routes);
    let routes = agreements(routes);
    let routes = performance_alerts(routes);
    occurrences(routes)
}

fn recipients(routes: Routes) -> Routes {
    let calls =
        Calls::new(RecordKind::Recipient, &RECIPIENT, "recipients", "/recipients", "/recipients/{id}");
    let routes = calls.list(routes, "listRecipients", "Who is told, and how");
    let routes = calls.one(routes, "getRecipient", "One recipient");
    let routes = calls.create(routes, "createRecipient", "Make a recipient", EDIT, None);
    let about = "Change a recipient; a password goes nowhere else by its mask";
    let routes = calls.patch(routes, "updateRecipient", about, EDIT);
    let about = "Remove a recipient, with its blackouts and its place in groups";
    calls.delete(routes, "deleteRecipient", about, EDIT)
}

fn groups(routes: Routes) -> Routes {
    let calls = Calls::new(
        RecordKind::NotifierGroup,
        &NOTIFIER_GROUP,
        "notifier-groups",
        "/notifier-groups",
        "/notifier-groups/{id}",
    );
    let routes = calls.list(routes, "listNotifierGroups", "Who is told of which monitors, steps and errors");
    let routes = calls.one(routes, "getNotifierGroup", "One group");
    let about = "Make a group; once there is one, only groups say who is told";
    let routes = calls.create(routes, "createNotifierGroup", about, EDIT, None);
    let routes = calls.patch(routes, "updateNotifierGroup", "Change a group", EDIT);
    calls.delete(routes, "deleteNotifierGroup", "Remove a group", EDIT)
}

fn templates(routes: Routes) -> Routes {
    let calls = Calls::new(RecordKind::Template, &TEMPLATE, "templates", "/templates", "/templates/{id}");
    let routes = calls.list(routes, "listTemplates", "Templates of messages");
    let routes = calls.one(routes, "getTemplate", "One template");
    let routes = calls.create(routes, "createTemplate", "Make a template, which is tried first", EDIT, None);
    let routes = calls.patch(routes, "updateTemplate", "Change a template, which is tried first", EDIT);
    calls.delete(routes, "deleteTemplate", "Remove a template that no group uses", EDIT)
}

fn agreements(routes: Routes) -> Routes {
    let calls = Calls::new(RecordKind::Sla, &SLA, "slas", "/slas", "/slas/{id}");
    let routes = calls.list(routes, "listSlas", "Service level agreements");
    let routes = calls.one(routes, "getSla", "One agreement");
    let about = "Make the agreement of a monitor; each has one at most";
    let routes = calls.create(routes, "createSla", about, EDIT, None);
    let routes = calls.patch(routes, "updateSla", "Change an agreement", EDIT);
    let routes = calls.delete(routes, "deleteSla", "Remove an agreement", EDIT);
    let about = "Agreements of several monitors at once, all or nothing; a monitor without one gets one";
    let bulk = Operation::new(Verb::Post, "/slas/bulk-edit", "bulkEditSlas", "slas", about)
        .right(Some(EDIT))
        .body(Body::Create(&SLA_BULK_EDIT))
        .answer(Answer::One(&BULK_EDIT_RESULT))
        .or(403, "The role lacks the right, or one of the monitors is not the account's");
    routes.on(
        bulk,
        async |State(state): State<ApiState>,
               Extension(caller): Extension<Caller>,
               JsonBody(body): JsonBody| {
            state.resources.bulk_edit_slas(&caller, &body).await?;
            Ok::<_, ApiError>(edited(&body, Vec::new()))
        },
    )
}

const ALERTS: &str = "/monitors/{id}/performance-alerts";
const ALERT: &str = "/monitors/{id}/performance-alerts/{alert_id}";

fn performance_alerts(routes: Routes) -> Routes {
    let on = |method, path, id, about| Operation::new(method, path, id, "performance-alerts", about);
    let list = on(Verb::Get, ALERTS, "listPerformanceAlerts", "Performance alerts of a monitor")
        .right(Some(Permission::View))
        .paged()
        .answer(Answer::List(vec![&PERFORMANCE_ALERT]));
    let create = on(Verb::Post, ALERTS, "createPerformanceAlert", "Make a performance alert of a monitor")
        .right(Some(EDIT))
        .body(Body::Create(&PERFORMANCE_ALERT))
        .answer(Answer::Saved(None))
        .or(409, "The monitor has as many as it may have");
    let one = on(Verb::Get, ALERT, "getPerformanceAlert", "One performance alert")
        .right(Some(Permission::View))
        .answer(Answer::One(&PERFORMANCE_ALERT));
    let patch = on(Verb::Patch, ALERT, "updatePerformanceAlert", "Change a performance alert")
        .right(Some(EDIT))
        .body(Body::Patch(&PERFORMANCE_ALERT))
        .answer(Answer::Saved(None))
        .if_match();
    let delete = on(Verb::Delete, ALERT, "deletePerformanceAlert", "Remove a performance alert")
        .right(Some(EDIT))
        .if_match();
    routes
        .on(list, list_alerts)
        .on(create, create_alert)
        .on(one, one_alert)
        .on(patch, patch_alert)
        .on(delete, delete_alert)
}

async fn list_alerts(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(monitor): Id,
    mut query: Query,
) -> Result<Response, ApiError> {
    let window = query.window();
    query.finish()?;
    let (role, resources) = (caller.role, state.resources);
    let by_id = |last, id| id > last;
    lists::paged(role, window, by_id, move |page| {
        let (resources, caller) = (Arc::clone(&resources), caller.clone());
        async move { resources.performance_alerts(&caller, MonitorId(monitor), page).await }
    })
    .await
}

async fn create_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(monitor): Id,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved(state.resources.create_for_parent(&caller, PERFORMANCE, Some(monitor), &body).await?))
}

async fn one_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Under { id: monitor, inner: id }: Under,
) -> Result<Response, ApiError> {
    state.resources.require_parent(&caller, PERFORMANCE, id, monitor).await?;
    let (object, revision) = state.resources.get(&caller, PERFORMANCE, id).await?;
    Ok(etag::tagged(revision, &object))
}

async fn patch_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Under { id: monitor, inner: id }: Under,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    state.resources.require_parent(&caller, PERFORMANCE, id, monitor).await?;
    Ok(etag::saved(state.resources.patch(&caller, PERFORMANCE, id, &body, if_match).await?))
}

async fn delete_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Under { id: monitor, inner: id }: Under,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    state.resources.require_parent(&caller, PERFORMANCE, id, monitor).await?;
    state.resources.delete(&caller, PERFORMANCE, id, if_match).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Occurrences that are answered when no `limit` is given, and at most.
const FEW: u64 = 10;
const MOST: u64 = 100;

fn occurrences(routes: Routes) -> Routes {
    let path = "/blackouts/{id}/occurrences";
    let about = "When a blackout holds next, at most 100 times";
    let operation = Operation::new(Verb::Get, path, "listBlackoutOccurrences", "blackouts", about)
        .query(&[
            Param::new("after", ParamKind::Time, "Those that end after this time; now when absent"),
            Param::new("limit", ParamKind::Int(0), "Entries at most; 10 when absent"),
        ])
        .answer(Answer::List(vec![&BLACKOUT_OCCURRENCE]));
    routes.on(operation, next_occurrences)
}

async fn next_occurrences(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    mut query: Query,
) -> Result<Response, ApiError> {
    let zone = state.resources.time_zone(&caller).await?;
    let rule = "a time as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let after = query.one("after", rule, |text| time_in(&zone, text));
    let window = query.window();
    query.finish()?;
    let most = usize::try_from(window.limit.unwrap_or(FEW).min(MOST)).unwrap_or_default();
    let found = state.resources.blackout_occurrences(&caller, id, after, most).await?;
    let count = found.len() as u64;
    let piece = lists::piece(found);
    Ok(lists::respond::<StoreError>(caller.role, count, window, stream::once(async { Ok(piece) })))
}
