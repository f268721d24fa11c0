//! POST, PATCH and DELETE of monitors, their copies, conversion and rest.

use std::sync::OnceLock;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;

use crate::api::body::{JsonBody, OptionalBody};
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::operation::{Answer, Body, Operation, Verb};
use crate::api::path::Id;
use crate::api::query::time_in;
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::domain::{MonitorId, MonitorType, Permission, Timestamp};
use crate::schema::intake::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table;
use crate::schema::table::account::MONITOR_CLONE;
use crate::schema::table::orders::PAUSE;
use crate::service::monitors;
use crate::service::{Caller, ServiceError};
use crate::syntax::source::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

const FILE: &str = "The role lacks the right, or a file on the server manages the monitor";

/// Paths and names of the operations on one type.
struct Words {
    kind: MonitorType,
    path: &'static str,
    path_one: &'static str,
    create: &'static str,
    edit: &'static str,
    about_create: &'static str,
    about_edit: &'static str,
}

/// Made once for the whole process: operations name themselves by static texts.
fn words() -> &'static [Words] {
    static WORDS: OnceLock<Vec<Words>> = OnceLock::new();
    let lasting = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    WORDS.get_or_init(|| {
        let of = |kind: &MonitorType| Words {
            kind: *kind,
            path: lasting(format!("/monitors/{kind}")),
            about_create: lasting(format!("Make a monitor of type {kind}")),
            about_edit: lasting(format!("Change a monitor of type {kind}")),
            path_one: lasting(format!("/monitors/{kind}/{{id}}")),
            create: lasting(format!("create{}Monitor", camel(kind.name()))),
            edit: lasting(format!("edit{}Monitor", camel(kind.name()))),
        };
        MonitorType::ALL.iter().map(of).collect()
    })
}

/// `website-ssl` as `WebsiteSsl`.
fn camel(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').map(capital).collect()
}

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = words().iter().fold(routes, of_type);
    let routes = [MonitorType::WebsiteApi, MonitorType::WebsiteSslApi].into_iter().fold(routes, conversion);
    let delete =
        Operation::new(Verb::Delete, "/monitors/{id}", "deleteMonitor", "monitors", "Remove a monitor")
            .right(Some(Permission::Edit))
            .if_match()
            .or(403, FILE);
    let copy =
        Operation::new(Verb::Post, "/monitors/{id}/clone", "cloneMonitor", "monitors", "Copy a monitor")
            .right(Some(Permission::Edit))
            .body(Body::Patch(&MONITOR_CLONE))
            .may_lack_body()
            .answer(Answer::Saved(None));
    let pause =
        Operation::new(Verb::Post, "/monitors/{id}/pause", "pauseMonitor", "monitors", "Let a monitor rest")
            .right(Some(Permission::Edit))
            .body(Body::Create(&PAUSE))
            .answer(Answer::Saved(None));
    let resume = Operation::new(
        Verb::Post,
        "/monitors/{id}/resume",
        "resumeMonitor",
        "monitors",
        "End a rest at once",
    )
    .right(Some(Permission::Edit))
    .answer(Answer::Saved(None));
    routes.on(delete, remove).on(copy, clone).on(pause, rest).on(resume, end_rest)
}

fn of_type(routes: Routes, words: &Words) -> Routes {
    let kind = words.kind;
    let create = Operation::new(Verb::Post, words.path, words.create, "monitors", words.about_create)
        .right(Some(Permission::Edit))
        .body(Body::Create(table::for_type(kind)))
        .answer(Answer::Saved(None));
    let edit = Operation::new(Verb::Patch, words.path_one, words.edit, "monitors", words.about_edit)
        .right(Some(Permission::Edit))
        .body(Body::Patch(table::for_type(kind)))
        .answer(Answer::Saved(None))
        .if_match()
        .or(403, FILE);
    let make = async move |State(state): State<ApiState>,
                           Extension(caller): Extension<Caller>,
                           JsonBody(body): JsonBody| {
        let saved = monitors::create(&state.monitors, &caller, kind, InputFormat::V3, &body).await?;
        Ok::<_, ApiError>(etag::saved(saved))
    };
    let change = async move |State(state): State<ApiState>,
                             Extension(caller): Extension<Caller>,
                             Id(id): Id,
                             headers: HeaderMap,
                             JsonBody(body): JsonBody| {
        let seen = etag::if_match(&headers)?;
        let saved = monitors::patch(
            &state.monitors,
            &caller,
            MonitorId(id),
            Some(kind),
            InputFormat::V3,
            &body,
            seen,
        )
        .await?;
        Ok::<_, ApiError>(etag::saved(saved))
    };
    routes.on_large(create, make).on_large(edit, change)
}

fn conversion(routes: Routes, kind: MonitorType) -> Routes {
    let (path, id, about) = match kind {
        MonitorType::WebsiteApi => (
            "/monitors/website-api/{id}/convert-api",
            "convertWebsiteApiMonitor",
            "Turn the one request of a website-api monitor into its first step",
        ),
        _ => (
            "/monitors/website-ssl-api/{id}/convert-api",
            "convertWebsiteSslApiMonitor",
            "Turn the one request of a website-ssl-api monitor into its first step",
        ),
    };
    let operation = Operation::new(Verb::Patch, path, id, "monitors", about)
        .right(Some(Permission::Edit))
        .answer(Answer::Saved(None))
        .if_match()
        .or(403, FILE)
        .or(409, "The monitor has API steps already");
    let convert = async move |State(state): State<ApiState>,
                              Extension(caller): Extension<Caller>,
                              Id(id): Id,
                              headers: HeaderMap| {
        let seen = etag::if_match(&headers)?;
        let saved = monitors::convert_to_steps(&state.monitors, &caller, MonitorId(id), kind, seen).await?;
        Ok::<_, ApiError>(etag::saved(saved))
    };
    routes.on(operation, convert)
}

async fn remove(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let seen = etag::if_match(&headers)?;
    monitors::delete(&state.monitors, &caller, MonitorId(id), seen).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn clone(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    OptionalBody(body): OptionalBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved(monitors::copy(&state.monitors, &caller, MonitorId(id), &body).await?))
}

async fn rest(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let zone = state.resources.time_zone(&caller).await?;
    let until = until(&body, &zone)?;
    Ok(etag::saved(monitors::pause(&state.monitors, &caller, MonitorId(id), until).await?))
}

fn until(body: &Node, zone: &TimeZone) -> Result<Timestamp, ServiceError> {
    let mut intake = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let read = intake.read_fields(&PAUSE, body, &[], true);
    let until = read.get("until").and_then(|until| until.as_str()).and_then(|text| time_in(zone, text));
    if until.is_none() && intake.errors.is_empty() {
        let message = "`until` must be a time as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the time zone of the account";
        intake.errors.push(ValidationError::new(
            ValidationErrorKind::Format,
            "until",
            body.position_of("until"),
            message,
        ));
    }
    until.filter(|_| intake.errors.is_empty()).ok_or(ServiceError::Invalid(intake.errors))
}

async fn end_rest(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, ApiError> {
    Ok(etag::saved(monitors::resume(&state.monitors, &caller, MonitorId(id)).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_own_paths_and_names() {
        let words = words();
        assert_eq!(words.len(), 21);
        let ssl = words.iter().find(|words| words.kind == MonitorType::WebsiteSslApi).unwrap();
        assert_eq!(ssl.path_one, "/monitors/website-ssl-api/{id}");
        assert_eq!(ssl.create, "createWebsiteSslApiMonitor");
    }
}
