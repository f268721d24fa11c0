//! POST, PATCH and DELETE of monitors; clone, conversion, pause and resume.

use std::sync::OnceLock;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;

use crate::api::body::{JsonBody, OptionalJsonBody};
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::parse_time_in_zone;
use crate::api::state::ApiState;
use crate::domain::{MonitorId, MonitorType, Permission, Timestamp};
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table;
use crate::schema::table::operations::PAUSE;
use crate::schema::table::requests::MONITOR_CLONE;
use crate::service::monitors;
use crate::service::{Caller, ServiceError};
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Condition of the status 403 of changes of a monitor.
const FORBIDDEN_OR_FILE_MANAGED: &str =
    "The role lacks the right, or a file on the server manages the monitor";

/// Paths and names of the operations on one type.
struct TypeOperations {
    monitor_type: MonitorType,
    collection_path: &'static str,
    item_path: &'static str,
    create_operation_id: &'static str,
    edit_operation_id: &'static str,
    create_summary: &'static str,
    edit_summary: &'static str,
}

/// Returns the operations of each type; built once per process, since operations need static strings.
fn operations_by_type() -> &'static [TypeOperations] {
    static OPERATIONS: OnceLock<Vec<TypeOperations>> = OnceLock::new();
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    OPERATIONS.get_or_init(|| {
        let to_operations = |monitor_type: &MonitorType| TypeOperations {
            monitor_type: *monitor_type,
            collection_path: leak(format!("/monitors/{monitor_type}")),
            create_summary: leak(format!("Create a monitor of type {monitor_type}")),
            edit_summary: leak(format!("Change a monitor of type {monitor_type}")),
            item_path: leak(format!("/monitors/{monitor_type}/{{id}}")),
            create_operation_id: leak(format!("create{}Monitor", to_pascal_case(monitor_type.name()))),
            edit_operation_id: leak(format!("edit{}Monitor", to_pascal_case(monitor_type.name()))),
        };
        MonitorType::ALL.iter().map(to_operations).collect()
    })
}

/// Converts `website-ssl` to `WebsiteSsl`.
fn to_pascal_case(name: &str) -> String {
    let capitalize = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').map(capitalize).collect()
}

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let router = operations_by_type().iter().fold(router, add_type_routes);
    let router =
        [MonitorType::WebsiteApi, MonitorType::WebsiteSslApi].into_iter().fold(router, add_conversion_route);
    let delete_operation = Operation::new(
        OperationMethod::Delete,
        "/monitors/{id}",
        "deleteMonitor",
        "monitors",
        "Remove a monitor",
    )
    .with_permission(Some(Permission::Edit))
    .with_if_match()
    .with_additional_status(403, FORBIDDEN_OR_FILE_MANAGED);
    let clone_operation = Operation::new(
        OperationMethod::Post,
        "/monitors/{id}/clone",
        "cloneMonitor",
        "monitors",
        "Copy a monitor",
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Patch(&MONITOR_CLONE))
    .with_optional_body()
    .with_response(ResponseSpec::SavedId { create_response_fields: None });
    let pause_operation = Operation::new(
        OperationMethod::Post,
        "/monitors/{id}/pause",
        "pauseMonitor",
        "monitors",
        "Pause a monitor",
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Create(&PAUSE))
    .with_response(ResponseSpec::SavedId { create_response_fields: None });
    let resume_operation = Operation::new(
        OperationMethod::Post,
        "/monitors/{id}/resume",
        "resumeMonitor",
        "monitors",
        "Resume a paused monitor",
    )
    .with_permission(Some(Permission::Edit))
    .with_response(ResponseSpec::SavedId { create_response_fields: None });
    router
        .route(delete_operation, delete_monitor)
        .route(clone_operation, clone_monitor)
        .route(pause_operation, pause_monitor)
        .route(resume_operation, resume_monitor)
}

fn add_type_routes(router: OperationRouter, type_operations: &TypeOperations) -> OperationRouter {
    let monitor_type = type_operations.monitor_type;
    let create_operation = Operation::new(
        OperationMethod::Post,
        type_operations.collection_path,
        type_operations.create_operation_id,
        "monitors",
        type_operations.create_summary,
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Create(table::for_type(monitor_type)))
    .with_response(ResponseSpec::SavedId { create_response_fields: None });
    let edit_operation = Operation::new(
        OperationMethod::Patch,
        type_operations.item_path,
        type_operations.edit_operation_id,
        "monitors",
        type_operations.edit_summary,
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Patch(table::for_type(monitor_type)))
    .with_response(ResponseSpec::SavedId { create_response_fields: None })
    .with_if_match()
    .with_additional_status(403, FORBIDDEN_OR_FILE_MANAGED);
    let create_handler = async move |State(state): State<ApiState>,
                                     Extension(caller): Extension<Caller>,
                                     JsonBody(body): JsonBody| {
        let saved =
            monitors::create(&state.monitor_service, &caller, monitor_type, InputFormat::V3, &body).await?;
        Ok::<_, ApiError>(etag::saved_response(saved))
    };
    let edit_handler = async move |State(state): State<ApiState>,
                                   Extension(caller): Extension<Caller>,
                                   IdParam(id): IdParam,
                                   headers: HeaderMap,
                                   JsonBody(body): JsonBody| {
        let expected_revision = etag::expected_revision(&headers)?;
        let saved = monitors::patch(
            &state.monitor_service,
            &caller,
            MonitorId(id),
            Some(monitor_type),
            InputFormat::V3,
            &body,
            expected_revision,
        )
        .await?;
        Ok::<_, ApiError>(etag::saved_response(saved))
    };
    router
        .route_with_large_body(create_operation, create_handler)
        .route_with_large_body(edit_operation, edit_handler)
}

fn add_conversion_route(router: OperationRouter, monitor_type: MonitorType) -> OperationRouter {
    let (path, operation_id, summary) = match monitor_type {
        MonitorType::WebsiteApi => (
            "/monitors/website-api/{id}/convert-api",
            "convertWebsiteApiMonitor",
            "Convert the single request of a website-api monitor to its first step",
        ),
        _ => (
            "/monitors/website-ssl-api/{id}/convert-api",
            "convertWebsiteSslApiMonitor",
            "Convert the single request of a website-ssl-api monitor to its first step",
        ),
    };
    let operation = Operation::new(OperationMethod::Patch, path, operation_id, "monitors", summary)
        .with_permission(Some(Permission::Edit))
        .with_response(ResponseSpec::SavedId { create_response_fields: None })
        .with_if_match()
        .with_additional_status(403, FORBIDDEN_OR_FILE_MANAGED)
        .with_additional_status(409, "The monitor has API steps already");
    let conversion_handler = async move |State(state): State<ApiState>,
                                         Extension(caller): Extension<Caller>,
                                         IdParam(id): IdParam,
                                         headers: HeaderMap| {
        let expected_revision = etag::expected_revision(&headers)?;
        let saved = monitors::convert_single_request_to_steps(
            &state.monitor_service,
            &caller,
            MonitorId(id),
            monitor_type,
            expected_revision,
        )
        .await?;
        Ok::<_, ApiError>(etag::saved_response(saved))
    };
    router.route(operation, conversion_handler)
}

async fn delete_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    monitors::delete(&state.monitor_service, &caller, MonitorId(id), expected_revision).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn clone_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    OptionalJsonBody(body): OptionalJsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(
        monitors::copy_monitor(&state.monitor_service, &caller, MonitorId(id), &body).await?,
    ))
}

async fn pause_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let pause_end = parse_pause_end(&body, &zone)?;
    Ok(etag::saved_response(
        monitors::pause_monitor(&state.monitor_service, &caller, MonitorId(id), pause_end).await?,
    ))
}

fn parse_pause_end(body: &Node, zone: &TimeZone) -> Result<Timestamp, ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_complete_fields(&PAUSE, body);
    let pause_end =
        fields.get("until").and_then(|until| until.as_str()).and_then(|text| parse_time_in_zone(zone, text));
    if pause_end.is_none() && reader.errors.is_empty() {
        let message = "`until` must be a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the time zone of the account";
        reader.errors.push(ValidationError::new(
            ValidationErrorKind::Format,
            "until",
            body.position_of("until"),
            message,
        ));
    }
    pause_end.filter(|_| reader.errors.is_empty()).ok_or(ServiceError::Invalid(reader.errors))
}

async fn resume_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(monitors::resume_monitor(&state.monitor_service, &caller, MonitorId(id)).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_own_paths_and_names() {
        let operations = operations_by_type();
        assert_eq!(operations.len(), 21);
        let ssl = operations
            .iter()
            .find(|operations_of_type| operations_of_type.monitor_type == MonitorType::WebsiteSslApi)
            .unwrap();
        assert_eq!(ssl.item_path, "/monitors/website-ssl-api/{id}");
        assert_eq!(ssl.create_operation_id, "createWebsiteSslApiMonitor");
    }
}
