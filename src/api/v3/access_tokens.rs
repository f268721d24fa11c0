//! `/access-tokens` (behaviour.md 1 "Token"): log in, log out, and the tokens of the caller, for programs among them.

use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Map, Value, json};

use crate::api::body::JsonBody;
use crate::api::credentials::{bearer_token, client_address};
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::{Paging, QueryParams};
use crate::api::state::ApiState;
use crate::domain::{Permission, TokenScope, TokenScopes};
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::FieldTable;
use crate::schema::table::records::{ACCESS_TOKEN, TOKEN_INFO};
use crate::schema::table::requests::{LOGIN, PROGRAM_TOKEN};
use crate::schema::typed::request::{LoginRequest, ProgramTokenRequest, parse_request_fields};
use crate::service::{Caller, IssuedToken, ServiceError, TokenInfo};
use crate::syntax::node::Node;

const PATH: &str = "/access-tokens";
const TAG: &str = "access-tokens";
/// What a token is made from.
static REQUEST_TABLES: &[&FieldTable] = &[&LOGIN, &PROGRAM_TOKEN];
/// Lifetime of a token for a program, unless the request has one: 90 days in seconds.
const DEFAULT_PROGRAM_TOKEN_SECONDS: u64 = 90 * 86_400;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let create_operation = Operation::new(
        OperationMethod::Post,
        PATH,
        "createAccessToken",
        TAG,
        "Log in: returns a token that is valid for an hour; with the token of a login, make one for a program",
    );
    let create_operation = create_operation
        .with_optional_login()
        .with_body(BodySpec::CreateOneOf(REQUEST_TABLES))
        .with_response(ResponseSpec::Object(&ACCESS_TOKEN))
        .with_additional_status(
            401,
            "The bearer token of a request for a program's token is unknown or expired",
        )
        .with_additional_status(403, "The role does not permit a scope, or the token is that of a program")
        .with_additional_status(
            StatusCode::TOO_MANY_REQUESTS.as_u16(),
            "Too many failed logins of this user or from this address; `Retry-After` says when to try again",
        );
    let list_operation = Operation::new(
        OperationMethod::Get,
        PATH,
        "listAccessTokens",
        TAG,
        "Tokens and sessions of the caller that are valid, the newest first",
    );
    let list_operation = list_operation
        .with_permission(Some(Permission::ViewReports))
        .with_response(ResponseSpec::List(vec![&TOKEN_INFO]));
    let delete_operation = Operation::new(
        OperationMethod::Delete,
        PATH,
        "deleteAccessToken",
        TAG,
        "Log out: revokes the token that the request carries",
    );
    let revoke_operation = Operation::new(
        OperationMethod::Delete,
        "/access-tokens/{id}",
        "revokeAccessToken",
        TAG,
        "End a token or session of the caller",
    );
    router
        .route(create_operation, create_token)
        .route(list_operation, list_tokens)
        .route(delete_operation.with_permission(Some(Permission::ViewReports)), log_out)
        .route(revoke_operation.with_permission(Some(Permission::ViewReports)), revoke_token)
}

/// Logs in with user name and password. With a bearer token and without both, makes a token for a program.
async fn create_token(State(state): State<ApiState>, request: Request) -> Result<Response, ApiError> {
    let (client_address, bearer) = (client_address(&request), bearer_token(&request));
    let JsonBody(body) = JsonBody::from_request(request, &state).await?;
    let is_login = body.get("username").is_some() || body.get("password").is_some();
    let issued_token = match bearer {
        Ok(bearer) if !is_login => {
            let caller = state.account_service.authenticate_bearer(&bearer, client_address).await?;
            create_program_token(&state, &caller, &body).await?
        }
        _ => {
            let fields = parse_body_fields(&LOGIN, &body)?;
            let credentials: LoginRequest<'_> =
                parse_request_fields(&LOGIN, &fields).map_err(ServiceError::from)?;
            state.account_service.log_in(credentials.username, credentials.password, client_address).await?
        }
    };
    let response = json!({
        "access_token": issued_token.token,
        "expires_in": issued_token.expires_in,
        "token_type": "Bearer",
    });
    // RFC 6749 section 5.1: no cache may store the response.
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(([no_store], Json(response)).into_response())
}

async fn create_program_token(
    state: &ApiState,
    caller: &Caller,
    body: &Node,
) -> Result<IssuedToken, ServiceError> {
    let fields = parse_body_fields(&PROGRAM_TOKEN, body)?;
    let request: ProgramTokenRequest<'_> = parse_request_fields(&PROGRAM_TOKEN, &fields)?;
    // Cannot fail: the field table has already rejected unknown scopes.
    let scopes = TokenScopes::from_names(request.scopes.iter().copied()).ok_or(ServiceError::NotFound)?;
    let lifetime_seconds = request.expires_in.unwrap_or(DEFAULT_PROGRAM_TOKEN_SECONDS);
    state.account_service.create_program_token(caller, request.name, scopes, lifetime_seconds).await
}

async fn list_tokens(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let paging: Paging = query.paging();
    query.into_result()?;
    let tokens = state.account_service.tokens(&caller).await?;
    let rows = tokens.iter().map(token_json);
    Ok(list_response::list_in_memory(caller.role, tokens.len() as u64, paging, rows))
}

fn token_json(token: &TokenInfo) -> Value {
    let scopes = token.scopes.map(|scopes| scopes.iter().map(TokenScope::name).collect::<Vec<_>>());
    json!({
        "id": token.id,
        "kind": token.kind_name(),
        "name": token.name,
        "scopes": scopes,
        "created_at": token.created_at.to_string(),
        "expires_at": token.expires_at.to_string(),
        "last_used_at": token.last_used_at.to_string(),
        "address": token.address,
    })
}

async fn revoke_token(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<StatusCode, ApiError> {
    state.account_service.revoke_token(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn log_out(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    state.account_service.log_out(&caller, &bearer_token(&request)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads the fields of `body`, which must be a complete object of `table`.
pub(super) fn parse_body_fields(
    table: &'static FieldTable,
    body: &Node,
) -> Result<Map<String, Value>, ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_complete_fields(table, body);
    if reader.errors.is_empty() { Ok(fields) } else { Err(ServiceError::Invalid(reader.errors)) }
}
