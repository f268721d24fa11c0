//! POST `/results/{id}/share`, GET `/shares`, DELETE `/shares/{id}`: links that open the page of a result without a
//! login.

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::Value;

use super::access_tokens::parse_body_fields;
use super::results::{RESULT_ID_PARAM, parse_check_id};
use crate::api::body::OptionalJsonBody;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::schema::table::shares::{NEW_SHARE, SHARE, SHARE_REQUEST};
use crate::schema::typed::request::{ShareRequest, parse_request_fields};
use crate::service::{Caller, ResultShare, ServiceError, shared_result_path};

const TAG: &str = "results";

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let create_operation = Operation::new(
        OperationMethod::Post,
        "/results/{id}/share",
        "shareResult",
        TAG,
        "Share a result: returns a link that opens its page, with secrets left out, without a login",
    )
    .with_permission(Some(Permission::Edit))
    .with_path_param(RESULT_ID_PARAM)
    .with_body(BodySpec::Patch(&SHARE_REQUEST))
    .with_optional_body()
    .with_response(ResponseSpec::Created(&NEW_SHARE))
    .with_additional_status(409, "The account has 1,000 shared results");
    let list_operation = Operation::new(
        OperationMethod::Get,
        "/shares",
        "listShares",
        TAG,
        "Results that are shared now, without their links; the oldest share first",
    )
    .with_paging()
    .with_response(ResponseSpec::List(vec![&SHARE]));
    let revoke_operation = Operation::new(
        OperationMethod::Delete,
        "/shares/{id}",
        "revokeShare",
        TAG,
        "End a share: its link opens nothing from then on",
    )
    .with_permission(Some(Permission::Edit));
    router
        .route(create_operation, share_result)
        .route(list_operation, list_shares)
        .route(revoke_operation, revoke_share)
}

async fn share_result(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    OptionalJsonBody(body): OptionalJsonBody,
) -> Result<Response, ApiError> {
    let check_id = parse_check_id(&id)?;
    let fields = parse_body_fields(&SHARE_REQUEST, &body)?;
    let request: ShareRequest = parse_request_fields(&SHARE_REQUEST, &fields).map_err(ServiceError::from)?;
    let new_share = state.result_shares.create(&caller, check_id, request.days).await?;
    let mut object = new_share.share.to_json();
    object.insert("url".to_owned(), Value::from(shared_result_path(&new_share.token)));
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok((StatusCode::CREATED, [no_store], Json(object)).into_response())
}

async fn list_shares(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let paging = query.paging();
    query.into_result()?;
    let shares = state.result_shares.shares(Some(caller.customer)).await?;
    let rows = paging.slice(shares.iter()).map(ResultShare::to_json);
    Ok(list_response::list_in_memory(caller.role, shares.len() as u64, paging, rows))
}

async fn revoke_share(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<StatusCode, ApiError> {
    state.result_shares.revoke(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
