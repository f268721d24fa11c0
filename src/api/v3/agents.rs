//! `/agents`: enrolment and renewal, which need no login; revocation; further enrolment secrets of a location.

use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::Value;

use super::access_tokens::parse_body_fields;
use crate::api::body::JsonBody;
use crate::api::credentials::client_address;
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::state::ApiState;
use crate::domain::{AgentId, LocationId, Permission};
use crate::schema::table::agents::{AGENT_ENROLMENT, AGENT_GRANT, AGENT_RENEWAL, ENROLMENT_SECRET};
use crate::schema::typed::request::{AgentEnrolmentRequest, AgentRenewalRequest, parse_request_fields};
use crate::service::{Caller, ServiceError};

const TAG: &str = "agents";

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let enrol_summary = "Enrol an agent with a secret of its location, which is used up";
    let enrol = Operation::new(OperationMethod::Post, "/agents/enrol", "enrolAgent", TAG, enrol_summary)
        .with_permission(None)
        .with_body(BodySpec::Create(&AGENT_ENROLMENT))
        .with_response(ResponseSpec::Object(&AGENT_GRANT))
        .with_additional_status(403, "The secret is unknown, used or expired")
        .with_additional_status(
            409,
            "Another agent has the key, the location was changed at the same time, or the server takes no agents",
        )
        .with_additional_status(429, "Too many wrong secrets from this address; see `Retry-After`");
    let renew_summary = "Renew the token of an agent that proves that it has its key";
    let renew = Operation::new(OperationMethod::Post, "/agents/{id}/renew", "renewAgent", TAG, renew_summary)
        .with_permission(None)
        .with_body(BodySpec::Create(&AGENT_RENEWAL))
        .with_response(ResponseSpec::Object(&AGENT_GRANT))
        .with_additional_status(403, "The agent is unknown or revoked, or the signature is wrong");
    let revoke_summary = "Revoke an agent: its connection ends at once, and its location gets a new data key";
    let revoke = Operation::new(OperationMethod::Delete, "/agents/{id}", "revokeAgent", TAG, revoke_summary)
        .with_permission(Some(Permission::Administer))
        .with_response(ResponseSpec::SavedId { create_response_fields: None })
        .with_additional_status(409, "The location was changed at the same time; try again")
        .with_if_match();
    let secret_summary = "Another enrolment secret of a location, for one further agent; shown this once";
    let secret = Operation::new(
        OperationMethod::Post,
        "/locations/{id}/enrolment-secrets",
        "createEnrolmentSecret",
        TAG,
        secret_summary,
    )
    .with_permission(Some(Permission::Administer))
    .with_response(ResponseSpec::SavedId { create_response_fields: Some(&ENROLMENT_SECRET) })
    .with_additional_status(409, "Too many secrets are unused, or the location was changed at the same time");
    router
        .route(enrol, enrol_agent)
        .route(renew, renew_agent)
        .route(revoke, revoke_agent)
        .route(secret, create_enrolment_secret)
}

async fn enrol_agent(State(state): State<ApiState>, request: Request) -> Result<Response, ApiError> {
    let address = client_address(&request);
    let JsonBody(body) = JsonBody::from_request(request, &state).await?;
    let fields = parse_body_fields(&AGENT_ENROLMENT, &body)?;
    let enrolment: AgentEnrolmentRequest<'_> =
        parse_request_fields(&AGENT_ENROLMENT, &fields).map_err(ServiceError::from)?;
    Ok(secret_response(state.agent_service.enrol(enrolment, address).await?))
}

async fn renew_agent(
    State(state): State<ApiState>,
    IdParam(id): IdParam,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let fields = parse_body_fields(&AGENT_RENEWAL, &body)?;
    let renewal: AgentRenewalRequest<'_> =
        parse_request_fields(&AGENT_RENEWAL, &fields).map_err(ServiceError::from)?;
    Ok(secret_response(state.agent_service.renew_with_proof(AgentId(id), renewal).await?))
}

async fn revoke_agent(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    let saved = state.agent_service.revoke(&caller, AgentId(id), expected_revision).await?;
    Ok(etag::saved_response(saved))
}

async fn create_enrolment_secret(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    let saved = state.agent_service.create_enrolment_secret(&caller, LocationId(id)).await?;
    Ok(etag::saved_response(saved))
}

/// Builds a response that no cache may store.
fn secret_response(grant: impl serde::Serialize) -> Response {
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let body = serde_json::to_value(grant).unwrap_or(Value::Null);
    ([no_store], Json(body)).into_response()
}
