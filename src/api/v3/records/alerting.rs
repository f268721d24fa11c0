//! Operations on recipients, groups, templates, agreements and performance alerts, and the next occurrences of a
//! blackout.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;

use super::record_operations::RecordOperations;
use super::rights::EDIT_PERMISSION;
use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, NestedId};
use crate::api::query::{QueryParams, parse_time_in_zone};
use crate::api::state::ApiState;
use crate::api::v3::bulk_edit::bulk_edit_response;
use crate::api::{etag, list_response as lists};
use crate::domain::{MonitorId, Permission, RecordKind, StoreError};
use crate::schema::table::alerting::{
    BLACKOUT_OCCURRENCE, NOTIFIER_GROUP, PERFORMANCE_ALERT, RECIPIENT, SLA, SLA_BULK_EDIT, TEMPLATE,
};
use crate::schema::table::operations::BULK_EDIT_RESULT;
use crate::service::Caller;

const PERFORMANCE_ALERT_KIND: RecordKind = RecordKind::PerformanceAlert;

pub(super) fn add_routes(routes: OperationRouter) -> OperationRouter {
    let routes = add_recipient_routes(routes);
    let routes = add_notifier_group_routes(routes);
    let routes = add_template_routes(routes);
    let routes = add_sla_routes(routes);
    let routes = add_performance_alert_routes(routes);
    add_blackout_occurrence_routes(routes)
}

fn add_recipient_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Recipient,
        &RECIPIENT,
        "recipients",
        "/recipients",
        "/recipients/{id}",
    );
    let routes = calls.add_list(routes, "listRecipients", "Recipients of notifications");
    let routes = calls.add_get(routes, "getRecipient", "One recipient");
    let routes = calls.add_create(routes, "createRecipient", "Create a recipient", EDIT_PERMISSION, None);
    let about = "Change a recipient; a masked password is kept only if the destination stays the same";
    let routes = calls.add_update(routes, "updateRecipient", about, EDIT_PERMISSION);
    let about = "Remove a recipient, its blackouts and its group memberships";
    calls.add_delete(routes, "deleteRecipient", about, EDIT_PERMISSION)
}

fn add_notifier_group_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::NotifierGroup,
        &NOTIFIER_GROUP,
        "notifier-groups",
        "/notifier-groups",
        "/notifier-groups/{id}",
    );
    let routes = calls.add_list(
        routes,
        "listNotifierGroups",
        "Notifier groups: which recipients get which monitors, steps and errors",
    );
    let routes = calls.add_get(routes, "getNotifierGroup", "One group");
    let about = "Create a group; once a group exists, only groups decide who is notified";
    let routes = calls.add_create(routes, "createNotifierGroup", about, EDIT_PERMISSION, None);
    let routes = calls.add_update(routes, "updateNotifierGroup", "Change a group", EDIT_PERMISSION);
    calls.add_delete(routes, "deleteNotifierGroup", "Remove a group", EDIT_PERMISSION)
}

fn add_template_routes(routes: OperationRouter) -> OperationRouter {
    let calls =
        RecordOperations::new(RecordKind::Template, &TEMPLATE, "templates", "/templates", "/templates/{id}");
    let routes = calls.add_list(routes, "listTemplates", "Notification templates");
    let routes = calls.add_get(routes, "getTemplate", "One template");
    let routes = calls.add_create(
        routes,
        "createTemplate",
        "Create a template; it is rendered once to validate it",
        EDIT_PERMISSION,
        None,
    );
    let routes = calls.add_update(
        routes,
        "updateTemplate",
        "Change a template; it is rendered once to validate it",
        EDIT_PERMISSION,
    );
    calls.add_delete(routes, "deleteTemplate", "Remove a template that no group uses", EDIT_PERMISSION)
}

fn add_sla_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(RecordKind::Sla, &SLA, "slas", "/slas", "/slas/{id}");
    let routes = calls.add_list(routes, "listSlas", "Service level agreements");
    let routes = calls.add_get(routes, "getSla", "One agreement");
    let about = "Create the agreement of a monitor; each monitor has at most one";
    let routes = calls.add_create(routes, "createSla", about, EDIT_PERMISSION, None);
    let routes = calls.add_update(routes, "updateSla", "Change an agreement", EDIT_PERMISSION);
    let routes = calls.add_delete(routes, "deleteSla", "Remove an agreement", EDIT_PERMISSION);
    let about = "Agreements of several monitors at once, all or nothing; a monitor without one gets one";
    let bulk = Operation::new(OperationMethod::Post, "/slas/bulk-edit", "bulkEditSlas", "slas", about)
        .with_permission(Some(EDIT_PERMISSION))
        .with_body(BodySpec::Create(&SLA_BULK_EDIT))
        .with_response(ResponseSpec::Object(&BULK_EDIT_RESULT))
        .with_additional_status(
            403,
            "The role lacks the right, or one of the monitors does not belong to this account",
        );
    routes.route(
        bulk,
        async |State(state): State<ApiState>,
               Extension(caller): Extension<Caller>,
               JsonBody(body): JsonBody| {
            state.records.bulk_edit_slas(&caller, &body).await?;
            Ok::<_, ApiError>(bulk_edit_response(&body, Vec::new()))
        },
    )
}

const PERFORMANCE_ALERTS_PATH: &str = "/monitors/{id}/performance-alerts";
const PERFORMANCE_ALERT_PATH: &str = "/monitors/{id}/performance-alerts/{alert_id}";

fn add_performance_alert_routes(routes: OperationRouter) -> OperationRouter {
    let on = |method, path, id, about| Operation::new(method, path, id, "performance-alerts", about);
    let list = on(
        OperationMethod::Get,
        PERFORMANCE_ALERTS_PATH,
        "listPerformanceAlerts",
        "Performance alerts of a monitor",
    )
    .with_permission(Some(Permission::View))
    .with_paging()
    .with_response(ResponseSpec::List(vec![&PERFORMANCE_ALERT]));
    let create = on(
        OperationMethod::Post,
        PERFORMANCE_ALERTS_PATH,
        "createPerformanceAlert",
        "Create a performance alert of a monitor",
    )
    .with_permission(Some(EDIT_PERMISSION))
    .with_body(BodySpec::Create(&PERFORMANCE_ALERT))
    .with_response(ResponseSpec::SavedId(None))
    .with_additional_status(409, "The monitor has the most performance alerts allowed");
    let one =
        on(OperationMethod::Get, PERFORMANCE_ALERT_PATH, "getPerformanceAlert", "One performance alert")
            .with_permission(Some(Permission::View))
            .with_response(ResponseSpec::Object(&PERFORMANCE_ALERT));
    let patch = on(
        OperationMethod::Patch,
        PERFORMANCE_ALERT_PATH,
        "updatePerformanceAlert",
        "Change a performance alert",
    )
    .with_permission(Some(EDIT_PERMISSION))
    .with_body(BodySpec::Patch(&PERFORMANCE_ALERT))
    .with_response(ResponseSpec::SavedId(None))
    .with_if_match();
    let delete = on(
        OperationMethod::Delete,
        PERFORMANCE_ALERT_PATH,
        "deletePerformanceAlert",
        "Remove a performance alert",
    )
    .with_permission(Some(EDIT_PERMISSION))
    .with_if_match();
    routes
        .route(list, list_performance_alerts)
        .route(create, create_performance_alert)
        .route(one, get_performance_alert)
        .route(patch, update_performance_alert)
        .route(delete, delete_performance_alert)
}

async fn list_performance_alerts(
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

async fn create_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(monitor): IdParam,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(
        state.records.create_for_parent(&caller, PERFORMANCE_ALERT_KIND, Some(monitor), &body).await?,
    ))
}

async fn get_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { parent_id: monitor, child_id: id }: NestedId,
) -> Result<Response, ApiError> {
    state.records.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor).await?;
    let (object, revision) = state.records.get(&caller, PERFORMANCE_ALERT_KIND, id).await?;
    Ok(etag::json_with_etag(revision, &object))
}

async fn update_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { parent_id: monitor, child_id: id }: NestedId,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let if_match = etag::expected_revision(&headers)?;
    state.records.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor).await?;
    Ok(etag::saved_response(state.records.patch(&caller, PERFORMANCE_ALERT_KIND, id, &body, if_match).await?))
}

async fn delete_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { parent_id: monitor, child_id: id }: NestedId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let if_match = etag::expected_revision(&headers)?;
    state.records.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor).await?;
    state.records.delete(&caller, PERFORMANCE_ALERT_KIND, id, if_match).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Number of occurrences returned without `limit`; below, the most that are ever returned.
const DEFAULT_OCCURRENCES: u64 = 10;
const MAX_OCCURRENCES: u64 = 100;

fn add_blackout_occurrence_routes(routes: OperationRouter) -> OperationRouter {
    let path = "/blackouts/{id}/occurrences";
    let about = "Next occurrences of a blackout, at most 100";
    let operation = Operation::new(OperationMethod::Get, path, "listBlackoutOccurrences", "blackouts", about)
        .with_query_params(&[
            Param::new("after", ParamType::Time, "Occurrences that end after this time; now when absent"),
            Param::new("limit", ParamType::Int(0), "Most entries to return; 10 when absent"),
        ])
        .with_response(ResponseSpec::List(vec![&BLACKOUT_OCCURRENCE]));
    routes.route(operation, list_blackout_occurrences)
}

async fn list_blackout_occurrences(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.records.time_zone(&caller).await?;
    let rule = "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let after = query.parse_value("after", rule, |text| parse_time_in_zone(&zone, text));
    let window = query.paging();
    query.into_result()?;
    let max =
        usize::try_from(window.limit.unwrap_or(DEFAULT_OCCURRENCES).min(MAX_OCCURRENCES)).unwrap_or_default();
    let found = state.records.blackout_occurrences(&caller, id, after, max).await?;
    let count = found.len() as u64;
    let chunk = lists::json_chunk(found);
    Ok(lists::stream_list::<StoreError>(caller.role, count, window, stream::once(async { Ok(chunk) })))
}
