//! Operations on recipients, groups, templates, agreements and performance alerts, and the next occurrences of a
//! blackout.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;

use super::record_operations::RecordOperations;
use super::rights::EDIT;
use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, Param, ParamKind, ResponseSpec, Verb};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, NestedId};
use crate::api::query::{QueryParams, parse_time_in_zone};
use crate::api::state::ApiState;
use crate::api::v3::bulk_edit::edited_response;
use crate::api::{etag, list_response as lists};
use crate::domain::{MonitorId, Permission, RecordKind, StoreError};
use crate::schema::table::alerting::{
    BLACKOUT_OCCURRENCE, NOTIFIER_GROUP, PERFORMANCE_ALERT, RECIPIENT, SLA, SLA_BULK_EDIT, TEMPLATE,
};
use crate::schema::table::operations::BULK_EDIT_RESULT;
use crate::service::Caller;

const PERFORMANCE_ALERT_KIND: RecordKind = RecordKind::PerformanceAlert;

pub(super) fn routes(routes: OperationRouter) -> OperationRouter {
    let routes = recipients(routes);
    let routes = groups(routes);
    let routes = templates(routes);
    let routes = agreements(routes);
    let routes = performance_alerts(routes);
    occurrences(routes)
}

fn recipients(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Recipient,
        &RECIPIENT,
        "recipients",
        "/recipients",
        "/recipients/{id}",
    );
    let routes = calls.list(routes, "listRecipients", "Recipients of notifications");
    let routes = calls.get(routes, "getRecipient", "One recipient");
    let routes = calls.create(routes, "createRecipient", "Create a recipient", EDIT, None);
    let about = "Change a recipient; a masked password is kept only if the destination stays the same";
    let routes = calls.patch(routes, "updateRecipient", about, EDIT);
    let about = "Remove a recipient, its blackouts and its group memberships";
    calls.delete(routes, "deleteRecipient", about, EDIT)
}

fn groups(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::NotifierGroup,
        &NOTIFIER_GROUP,
        "notifier-groups",
        "/notifier-groups",
        "/notifier-groups/{id}",
    );
    let routes = calls.list(
        routes,
        "listNotifierGroups",
        "Notifier groups: which recipients get which monitors, steps and errors",
    );
    let routes = calls.get(routes, "getNotifierGroup", "One group");
    let about = "Create a group; once a group exists, only groups decide who is notified";
    let routes = calls.create(routes, "createNotifierGroup", about, EDIT, None);
    let routes = calls.patch(routes, "updateNotifierGroup", "Change a group", EDIT);
    calls.delete(routes, "deleteNotifierGroup", "Remove a group", EDIT)
}

fn templates(routes: OperationRouter) -> OperationRouter {
    let calls =
        RecordOperations::new(RecordKind::Template, &TEMPLATE, "templates", "/templates", "/templates/{id}");
    let routes = calls.list(routes, "listTemplates", "Notification templates");
    let routes = calls.get(routes, "getTemplate", "One template");
    let routes = calls.create(
        routes,
        "createTemplate",
        "Create a template; it is rendered once to validate it",
        EDIT,
        None,
    );
    let routes =
        calls.patch(routes, "updateTemplate", "Change a template; it is rendered once to validate it", EDIT);
    calls.delete(routes, "deleteTemplate", "Remove a template that no group uses", EDIT)
}

fn agreements(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(RecordKind::Sla, &SLA, "slas", "/slas", "/slas/{id}");
    let routes = calls.list(routes, "listSlas", "Service level agreements");
    let routes = calls.get(routes, "getSla", "One agreement");
    let about = "Create the agreement of a monitor; each monitor has at most one";
    let routes = calls.create(routes, "createSla", about, EDIT, None);
    let routes = calls.patch(routes, "updateSla", "Change an agreement", EDIT);
    let routes = calls.delete(routes, "deleteSla", "Remove an agreement", EDIT);
    let about = "Agreements of several monitors at once, all or nothing; a monitor without one gets one";
    let bulk = Operation::new(Verb::Post, "/slas/bulk-edit", "bulkEditSlas", "slas", about)
        .with_right(Some(EDIT))
        .with_body(BodySpec::Create(&SLA_BULK_EDIT))
        .with_response(ResponseSpec::One(&BULK_EDIT_RESULT))
        .with_status(403, "The role lacks the right, or one of the monitors does not belong to this account");
    routes.route(
        bulk,
        async |State(state): State<ApiState>,
               Extension(caller): Extension<Caller>,
               JsonBody(body): JsonBody| {
            state.records.bulk_edit_slas(&caller, &body).await?;
            Ok::<_, ApiError>(edited_response(&body, Vec::new()))
        },
    )
}

const ALERTS_PATH: &str = "/monitors/{id}/performance-alerts";
const ALERT_PATH: &str = "/monitors/{id}/performance-alerts/{alert_id}";

fn performance_alerts(routes: OperationRouter) -> OperationRouter {
    let on = |method, path, id, about| Operation::new(method, path, id, "performance-alerts", about);
    let list = on(Verb::Get, ALERTS_PATH, "listPerformanceAlerts", "Performance alerts of a monitor")
        .with_right(Some(Permission::View))
        .with_paging()
        .with_response(ResponseSpec::List(vec![&PERFORMANCE_ALERT]));
    let create =
        on(Verb::Post, ALERTS_PATH, "createPerformanceAlert", "Create a performance alert of a monitor")
            .with_right(Some(EDIT))
            .with_body(BodySpec::Create(&PERFORMANCE_ALERT))
            .with_response(ResponseSpec::Saved(None))
            .with_status(409, "The monitor has the most performance alerts allowed");
    let one = on(Verb::Get, ALERT_PATH, "getPerformanceAlert", "One performance alert")
        .with_right(Some(Permission::View))
        .with_response(ResponseSpec::One(&PERFORMANCE_ALERT));
    let patch = on(Verb::Patch, ALERT_PATH, "updatePerformanceAlert", "Change a performance alert")
        .with_right(Some(EDIT))
        .with_body(BodySpec::Patch(&PERFORMANCE_ALERT))
        .with_response(ResponseSpec::Saved(None))
        .with_if_match();
    let delete = on(Verb::Delete, ALERT_PATH, "deletePerformanceAlert", "Remove a performance alert")
        .with_right(Some(EDIT))
        .with_if_match();
    routes
        .route(list, list_alerts)
        .route(create, create_alert)
        .route(one, get_alert)
        .route(patch, patch_alert)
        .route(delete, delete_alert)
}

async fn list_alerts(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(monitor): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let window = query.paging();
    query.into_result()?;
    let (role, resources) = (caller.role, state.records);
    let by_id = |last, id| id > last;
    lists::stream_pages(role, window, by_id, move |page| {
        let (resources, caller) = (Arc::clone(&resources), caller.clone());
        async move { resources.performance_alerts_of_monitor(&caller, MonitorId(monitor), page).await }
    })
    .await
}

async fn create_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(monitor): IdParam,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(
        state.records.create_for_parent(&caller, PERFORMANCE_ALERT_KIND, Some(monitor), &body).await?,
    ))
}

async fn get_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { id: monitor, child_id: id }: NestedId,
) -> Result<Response, ApiError> {
    state.records.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor).await?;
    let (object, revision) = state.records.get(&caller, PERFORMANCE_ALERT_KIND, id).await?;
    Ok(etag::json_with_etag(revision, &object))
}

async fn patch_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { id: monitor, child_id: id }: NestedId,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    state.records.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor).await?;
    Ok(etag::saved_response(state.records.patch(&caller, PERFORMANCE_ALERT_KIND, id, &body, if_match).await?))
}

async fn delete_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { id: monitor, child_id: id }: NestedId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    state.records.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor).await?;
    state.records.delete(&caller, PERFORMANCE_ALERT_KIND, id, if_match).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Number of occurrences returned without `limit`; below, the most that are ever returned.
const DEFAULT_OCCURRENCES: u64 = 10;
const MAX_OCCURRENCES: u64 = 100;

fn occurrences(routes: OperationRouter) -> OperationRouter {
    let path = "/blackouts/{id}/occurrences";
    let about = "Next occurrences of a blackout, at most 100";
    let operation = Operation::new(Verb::Get, path, "listBlackoutOccurrences", "blackouts", about)
        .with_query(&[
            Param::new("after", ParamKind::Time, "Occurrences that end after this time; now when absent"),
            Param::new("limit", ParamKind::Int(0), "Most entries to return; 10 when absent"),
        ])
        .with_response(ResponseSpec::List(vec![&BLACKOUT_OCCURRENCE]));
    routes.route(operation, list_occurrences)
}

async fn list_occurrences(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.records.time_zone(&caller).await?;
    let rule = "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let after = query.parse_one("after", rule, |text| parse_time_in_zone(&zone, text));
    let window = query.paging();
    query.into_result()?;
    let max =
        usize::try_from(window.limit.unwrap_or(DEFAULT_OCCURRENCES).min(MAX_OCCURRENCES)).unwrap_or_default();
    let found = state.records.blackout_occurrences(&caller, id, after, max).await?;
    let count = found.len() as u64;
    let chunk = lists::json_chunk(found);
    Ok(lists::stream_list::<StoreError>(caller.role, count, window, stream::once(async { Ok(chunk) })))
}
