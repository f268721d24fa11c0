//! POST `/access-tokens` (behaviour.md 1 "Token"), and DELETE of the token that the request carries.

use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Map, Value, json};

use crate::api::body::JsonBody;
use crate::api::credentials::{bearer_token, peer_address};
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::FieldTable;
use crate::schema::table::records::ACCESS_TOKEN;
use crate::schema::table::requests::LOGIN;
use crate::schema::typed::request::{LoginRequest, parse_request_fields};
use crate::service::{Caller, ServiceError};
use crate::syntax::node::Node;

const PATH: &str = "/access-tokens";
const TAG: &str = "access-tokens";

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let create_operation = Operation::new(
        OperationMethod::Post,
        PATH,
        "createAccessToken",
        TAG,
        "Log in: returns a token that is valid for an hour",
    );
    let create_operation = create_operation
        .with_permission(None)
        .with_body(BodySpec::Create(&LOGIN))
        .with_response(ResponseSpec::Object(&ACCESS_TOKEN))
        .with_additional_status(
            StatusCode::TOO_MANY_REQUESTS.as_u16(),
            "Too many failed logins of this user or from this address; `Retry-After` says when to try again",
        );
    let delete_operation = Operation::new(
        OperationMethod::Delete,
        PATH,
        "deleteAccessToken",
        TAG,
        "Log out: revokes the token that the request carries",
    );
    router
        .route(create_operation, log_in)
        .route(delete_operation.with_permission(Some(Permission::ViewReports)), log_out)
}

async fn log_in(State(state): State<ApiState>, request: Request) -> Result<Response, ApiError> {
    let client_address = peer_address(&request);
    let JsonBody(body) = JsonBody::from_request(request, &state).await?;
    let fields = parse_body_fields(&LOGIN, &body)?;
    let credentials: LoginRequest<'_> = parse_request_fields(&LOGIN, &fields).map_err(ServiceError::from)?;
    let issued_token =
        state.accounts.log_in(credentials.username, credentials.password, client_address).await?;
    let response = json!({
        "access_token": issued_token.token,
        "expires_in": issued_token.expires_in,
        "token_type": "Bearer",
    });
    // RFC 6749 section 5.1: no cache may store the response.
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(([no_store], Json(response)).into_response())
}

async fn log_out(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    state.accounts.log_out(&caller, &bearer_token(&request)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads the fields of `body`, which must be a complete object of `table`.
pub(super) fn parse_body_fields(
    table: &'static FieldTable,
    body: &Node,
) -> Result<Map<String, Value>, ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_fields(table, body, &[], true);
    if reader.errors.is_empty() { Ok(fields) } else { Err(ServiceError::Invalid(reader.errors)) }
}
