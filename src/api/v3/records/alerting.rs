//! Operations on recipients, groups, templates, agreements and performance alerts, and the next occurrences of a
//! blackout.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;

use super::record_operations::RecordOperations;
use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, NestedId};
use crate::api::query::{QueryParams, parse_time_in_zone};
use crate::api::state::ApiState;
use crate::api::v3::bulk_edit_and_apply::bulk_edit_response;
use crate::api::{etag, list_response};
use crate::domain::{ConfigRecordKind, MonitorId, Permission, StoreError};
use crate::schema::table::alerting::{
    BLACKOUT_OCCURRENCE, NOTIFIER_GROUP, PERFORMANCE_ALERT, RECIPIENT, SLA, SLA_BULK_EDIT, TEMPLATE,
};
use crate::schema::table::operations::BULK_EDIT_RESULT;
use crate::service::Caller;

const PERFORMANCE_ALERT_KIND: ConfigRecordKind = ConfigRecordKind::PerformanceAlert;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let router = add_recipient_routes(router);
    let router = add_notifier_group_routes(router);
    let router = add_template_routes(router);
    let router = add_sla_routes(router);
    let router = add_performance_alert_routes(router);
    add_blackout_occurrence_routes(router)
}

fn add_recipient_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::Recipient,
        &RECIPIENT,
        "recipients",
        "/recipients",
        "/recipients/{id}",
    );
    let router = operations.add_list(router, "listRecipients", "Recipients of notifications");
    let router = operations.add_get(router, "getRecipient", "One recipient");
    let router =
        operations.add_create(router, "createRecipient", "Create a recipient", Permission::Edit, None);
    let summary = "Change a recipient; a masked password is kept only if the destination stays the same";
    let router = operations.add_update(router, "updateRecipient", summary, Permission::Edit);
    let summary = "Remove a recipient, its blackouts and its group memberships";
    operations.add_delete(router, "deleteRecipient", summary, Permission::Edit)
}

fn add_notifier_group_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::NotifierGroup,
        &NOTIFIER_GROUP,
        "notifier-groups",
        "/notifier-groups",
        "/notifier-groups/{id}",
    );
    let router = operations.add_list(
        router,
        "listNotifierGroups",
        "Notifier groups: which recipients get which monitors, steps and errors",
    );
    let router = operations.add_get(router, "getNotifierGroup", "One group");
    let summary = "Create a group; once a group exists, only groups decide who is notified";
    let router = operations.add_create(router, "createNotifierGroup", summary, Permission::Edit, None);
    let router = operations.add_update(router, "updateNotifierGroup", "Change a group", Permission::Edit);
    operations.add_delete(router, "deleteNotifierGroup", "Remove a group", Permission::Edit)
}

fn add_template_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::Template,
        &TEMPLATE,
        "templates",
        "/templates",
        "/templates/{id}",
    );
    let router = operations.add_list(router, "listTemplates", "Notification templates");
    let router = operations.add_get(router, "getTemplate", "One template");
    let router = operations.add_create(
        router,
        "createTemplate",
        "Create a template; it is rendered once to validate it",
        Permission::Edit,
        None,
    );
    let router = operations.add_update(
        router,
        "updateTemplate",
        "Change a template; it is rendered once to validate it",
        Permission::Edit,
    );
    operations.add_delete(router, "deleteTemplate", "Remove a template that no group uses", Permission::Edit)
}

fn add_sla_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(ConfigRecordKind::Sla, &SLA, "slas", "/slas", "/slas/{id}");
    let router = operations.add_list(router, "listSlas", "Service level agreements");
    let router = operations.add_get(router, "getSla", "One agreement");
    let summary = "Create the agreement of a monitor; each monitor has at most one";
    let router = operations.add_create(router, "createSla", summary, Permission::Edit, None);
    let router = operations.add_update(router, "updateSla", "Change an agreement", Permission::Edit);
    let router = operations.add_delete(router, "deleteSla", "Remove an agreement", Permission::Edit);
    let summary = "Agreements of several monitors at once, all or nothing; a monitor without one gets one";
    let bulk_operation =
        Operation::new(OperationMethod::Post, "/slas/bulk-edit", "bulkEditSlas", "slas", summary)
            .with_permission(Some(Permission::Edit))
            .with_body(BodySpec::Create(&SLA_BULK_EDIT))
            .with_response(ResponseSpec::Object(&BULK_EDIT_RESULT))
            .with_additional_status(
                403,
                "The role lacks the right, or one of the monitors does not belong to this account",
            );
    router.route(
        bulk_operation,
        async |State(state): State<ApiState>,
               Extension(caller): Extension<Caller>,
               JsonBody(body): JsonBody| {
            state.record_service.bulk_edit_slas(&caller, &body).await?;
            Ok::<_, ApiError>(bulk_edit_response(&body, Vec::new()))
        },
    )
}

const PERFORMANCE_ALERTS_PATH: &str = "/monitors/{id}/performance-alerts";
const PERFORMANCE_ALERT_PATH: &str = "/monitors/{id}/performance-alerts/{alert_id}";

fn add_performance_alert_routes(router: OperationRouter) -> OperationRouter {
    let operation = |method, path, operation_id, summary| {
        Operation::new(method, path, operation_id, "performance-alerts", summary)
    };
    let list_operation = operation(
        OperationMethod::Get,
        PERFORMANCE_ALERTS_PATH,
        "listPerformanceAlerts",
        "Performance alerts of a monitor",
    )
    .with_permission(Some(Permission::View))
    .with_paging()
    .with_response(ResponseSpec::List(vec![&PERFORMANCE_ALERT]));
    let create_operation = operation(
        OperationMethod::Post,
        PERFORMANCE_ALERTS_PATH,
        "createPerformanceAlert",
        "Create a performance alert of a monitor",
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Create(&PERFORMANCE_ALERT))
    .with_response(ResponseSpec::SavedId { create_response_fields: None })
    .with_additional_status(409, "The monitor has the most performance alerts allowed");
    let get_operation = operation(
        OperationMethod::Get,
        PERFORMANCE_ALERT_PATH,
        "getPerformanceAlert",
        "One performance alert",
    )
    .with_permission(Some(Permission::View))
    .with_response(ResponseSpec::Object(&PERFORMANCE_ALERT));
    let update_operation = operation(
        OperationMethod::Patch,
        PERFORMANCE_ALERT_PATH,
        "updatePerformanceAlert",
        "Change a performance alert",
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Patch(&PERFORMANCE_ALERT))
    .with_response(ResponseSpec::SavedId { create_response_fields: None })
    .with_if_match();
    let delete_operation = operation(
        OperationMethod::Delete,
        PERFORMANCE_ALERT_PATH,
        "deletePerformanceAlert",
        "Remove a performance alert",
    )
    .with_permission(Some(Permission::Edit))
    .with_if_match();
    router
        .route(list_operation, list_performance_alerts)
        .route(create_operation, create_performance_alert)
        .route(get_operation, get_performance_alert)
        .route(update_operation, update_performance_alert)
        .route(delete_operation, delete_performance_alert)
}

async fn list_performance_alerts(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(monitor_id): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let paging = query.paging();
    query.into_result()?;
    let (role, records) = (caller.role, state.record_service);
    let ascending_ids = |last, id| id > last;
    list_response::stream_pages(role, paging, ascending_ids, move |page| {
        let (records, caller) = (Arc::clone(&records), caller.clone());
        async move { records.performance_alerts_of_monitor(&caller, MonitorId(monitor_id), page).await }
    })
    .await
}

async fn create_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(monitor_id): IdParam,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(
        state
            .record_service
            .create_for_parent(&caller, PERFORMANCE_ALERT_KIND, Some(monitor_id), &body)
            .await?,
    ))
}

async fn get_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { parent_id: monitor_id, child_id: id }: NestedId,
) -> Result<Response, ApiError> {
    state.record_service.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor_id).await?;
    let (object, revision) = state.record_service.get(&caller, PERFORMANCE_ALERT_KIND, id).await?;
    Ok(etag::json_with_etag(revision, &object))
}

async fn update_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { parent_id: monitor_id, child_id: id }: NestedId,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    state.record_service.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor_id).await?;
    Ok(etag::saved_response(
        state.record_service.patch(&caller, PERFORMANCE_ALERT_KIND, id, &body, expected_revision).await?,
    ))
}

async fn delete_performance_alert(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    NestedId { parent_id: monitor_id, child_id: id }: NestedId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    state.record_service.require_parent(&caller, PERFORMANCE_ALERT_KIND, id, monitor_id).await?;
    state.record_service.delete(&caller, PERFORMANCE_ALERT_KIND, id, expected_revision).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Number of occurrences returned without `limit`; below, the most that are ever returned.
const DEFAULT_OCCURRENCES: u64 = 10;
const MAX_OCCURRENCES: u64 = 100;

fn add_blackout_occurrence_routes(router: OperationRouter) -> OperationRouter {
    let path = "/blackouts/{id}/occurrences";
    let summary = "Next occurrences of a blackout, at most 100";
    let operation =
        Operation::new(OperationMethod::Get, path, "listBlackoutOccurrences", "blackouts", summary)
            .with_query_params(&[
                Param::new("after", ParamType::Time, "Occurrences that end after this time; now when absent"),
                Param::new("limit", ParamType::Int(0), "Most entries to return; 10 when absent"),
            ])
            .with_response(ResponseSpec::List(vec![&BLACKOUT_OCCURRENCE]));
    router.route(operation, list_blackout_occurrences)
}

async fn list_blackout_occurrences(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let time_requirement =
        "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let after = query.parse_value("after", time_requirement, |text| parse_time_in_zone(&zone, text));
    let paging = query.paging();
    query.into_result()?;
    let max_occurrences =
        usize::try_from(paging.limit.unwrap_or(DEFAULT_OCCURRENCES).min(MAX_OCCURRENCES)).unwrap_or_default();
    let occurrences = state.record_service.blackout_occurrences(&caller, id, after, max_occurrences).await?;
    let total_count = occurrences.len() as u64;
    let chunk = list_response::json_chunk(occurrences);
    Ok(list_response::stream_list::<StoreError>(
        caller.role,
        total_count,
        paging,
        stream::once(async { Ok(chunk) }),
    ))
}
