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
use crate::api::operation::{BodySpec, Operation, ResponseSpec, Verb};
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

const FORBIDDEN_OR_FILE: &str = "The role lacks the right, or a file on the server manages the monitor";

/// Paths and names of the operations on one type.
struct TypeRoutes {
    kind: MonitorType,
    path: &'static str,
    item_path: &'static str,
    create_id: &'static str,
    edit: &'static str,
    about_create: &'static str,
    about_edit: &'static str,
}

/// Returns the operations of each type; built once per process, since operations need static strings.
fn type_routes() -> &'static [TypeRoutes] {
    static ROUTES: OnceLock<Vec<TypeRoutes>> = OnceLock::new();
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    ROUTES.get_or_init(|| {
        let to_routes = |kind: &MonitorType| TypeRoutes {
            kind: *kind,
            path: leak(format!("/monitors/{kind}")),
            about_create: leak(format!("Create a monitor of type {kind}")),
            about_edit: leak(format!("Change a monitor of type {kind}")),
            item_path: leak(format!("/monitors/{kind}/{{id}}")),
            create_id: leak(format!("create{}Monitor", to_camel_case(kind.name()))),
            edit: leak(format!("edit{}Monitor", to_camel_case(kind.name()))),
        };
        MonitorType::ALL.iter().map(to_routes).collect()
    })
}

/// Converts `website-ssl` to `WebsiteSsl`.
fn to_camel_case(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').map(capital).collect()
}

pub(super) fn routes(routes: OperationRouter) -> OperationRouter {
    let routes = type_routes().iter().fold(routes, routes_for_type);
    let routes =
        [MonitorType::WebsiteApi, MonitorType::WebsiteSslApi].into_iter().fold(routes, conversion_route);
    let delete =
        Operation::new(Verb::Delete, "/monitors/{id}", "deleteMonitor", "monitors", "Remove a monitor")
            .with_right(Some(Permission::Edit))
            .with_if_match()
            .with_status(403, FORBIDDEN_OR_FILE);
    let copy =
        Operation::new(Verb::Post, "/monitors/{id}/clone", "cloneMonitor", "monitors", "Copy a monitor")
            .with_right(Some(Permission::Edit))
            .with_body(BodySpec::Patch(&MONITOR_CLONE))
            .with_optional_body()
            .with_response(ResponseSpec::Saved(None));
    let pause =
        Operation::new(Verb::Post, "/monitors/{id}/pause", "pauseMonitor", "monitors", "Pause a monitor")
            .with_right(Some(Permission::Edit))
            .with_body(BodySpec::Create(&PAUSE))
            .with_response(ResponseSpec::Saved(None));
    let resume = Operation::new(
        Verb::Post,
        "/monitors/{id}/resume",
        "resumeMonitor",
        "monitors",
        "Resume a paused monitor",
    )
    .with_right(Some(Permission::Edit))
    .with_response(ResponseSpec::Saved(None));
    routes
        .route(delete, remove)
        .route(copy, copy_monitor)
        .route(pause, pause_monitor)
        .route(resume, resume_monitor)
}

fn routes_for_type(routes: OperationRouter, entry: &TypeRoutes) -> OperationRouter {
    let kind = entry.kind;
    let create = Operation::new(Verb::Post, entry.path, entry.create_id, "monitors", entry.about_create)
        .with_right(Some(Permission::Edit))
        .with_body(BodySpec::Create(table::for_type(kind)))
        .with_response(ResponseSpec::Saved(None));
    let edit = Operation::new(Verb::Patch, entry.item_path, entry.edit, "monitors", entry.about_edit)
        .with_right(Some(Permission::Edit))
        .with_body(BodySpec::Patch(table::for_type(kind)))
        .with_response(ResponseSpec::Saved(None))
        .with_if_match()
        .with_status(403, FORBIDDEN_OR_FILE);
    let make = async move |State(state): State<ApiState>,
                           Extension(caller): Extension<Caller>,
                           JsonBody(body): JsonBody| {
        let saved = monitors::create(&state.monitors, &caller, kind, InputFormat::V3, &body).await?;
        Ok::<_, ApiError>(etag::saved_response(saved))
    };
    let change = async move |State(state): State<ApiState>,
                             Extension(caller): Extension<Caller>,
                             IdParam(id): IdParam,
                             headers: HeaderMap,
                             JsonBody(body): JsonBody| {
        let if_match = etag::if_match(&headers)?;
        let saved = monitors::patch(
            &state.monitors,
            &caller,
            MonitorId(id),
            Some(kind),
            InputFormat::V3,
            &body,
            if_match,
        )
        .await?;
        Ok::<_, ApiError>(etag::saved_response(saved))
    };
    routes.route_large(create, make).route_large(edit, change)
}

fn conversion_route(routes: OperationRouter, kind: MonitorType) -> OperationRouter {
    let (path, id, about) = match kind {
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
    let operation = Operation::new(Verb::Patch, path, id, "monitors", about)
        .with_right(Some(Permission::Edit))
        .with_response(ResponseSpec::Saved(None))
        .with_if_match()
        .with_status(403, FORBIDDEN_OR_FILE)
        .with_status(409, "The monitor has API steps already");
    let convert = async move |State(state): State<ApiState>,
                              Extension(caller): Extension<Caller>,
                              IdParam(id): IdParam,
                              headers: HeaderMap| {
        let if_match = etag::if_match(&headers)?;
        let saved =
            monitors::convert_to_steps(&state.monitors, &caller, MonitorId(id), kind, if_match).await?;
        Ok::<_, ApiError>(etag::saved_response(saved))
    };
    routes.route(operation, convert)
}

async fn remove(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    monitors::delete(&state.monitors, &caller, MonitorId(id), if_match).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn copy_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    OptionalJsonBody(body): OptionalJsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(monitors::copy_monitor(&state.monitors, &caller, MonitorId(id), &body).await?))
}

async fn pause_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let zone = state.records.time_zone(&caller).await?;
    let until = parse_until(&body, &zone)?;
    Ok(etag::saved_response(monitors::pause_monitor(&state.monitors, &caller, MonitorId(id), until).await?))
}

fn parse_until(body: &Node, zone: &TimeZone) -> Result<Timestamp, ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_fields(&PAUSE, body, &[], true);
    let until =
        fields.get("until").and_then(|until| until.as_str()).and_then(|text| parse_time_in_zone(zone, text));
    if until.is_none() && reader.errors.is_empty() {
        let message = "`until` must be a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the time zone of the account";
        reader.errors.push(ValidationError::new(
            ValidationErrorKind::Format,
            "until",
            body.position_of("until"),
            message,
        ));
    }
    until.filter(|_| reader.errors.is_empty()).ok_or(ServiceError::Invalid(reader.errors))
}

async fn resume_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(monitors::resume_monitor(&state.monitors, &caller, MonitorId(id)).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_own_paths_and_names() {
        let routes = type_routes();
        assert_eq!(routes.len(), 21);
        let ssl = routes.iter().find(|route| route.kind == MonitorType::WebsiteSslApi).unwrap();
        assert_eq!(ssl.item_path, "/monitors/website-ssl-api/{id}");
        assert_eq!(ssl.create_id, "createWebsiteSslApiMonitor");
    }
}
