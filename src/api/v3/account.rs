//! GET and PATCH `/account`: the account of the caller.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::schema::table::records::ACCOUNT;
use crate::service::Caller;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let get_operation = Operation::new(
        OperationMethod::Get,
        "/account",
        "getAccount",
        "account",
        "The account of the caller",
    )
    .with_response(ResponseSpec::Object(&ACCOUNT));
    let summary = "Change time zone, default locations, thresholds and brand of the account";
    let update_operation =
        Operation::new(OperationMethod::Patch, "/account", "updateAccount", "account", summary)
            .with_permission(Some(Permission::Administer))
            .with_body(BodySpec::Patch(&ACCOUNT))
            .with_response(ResponseSpec::SavedId { create_response_fields: None })
            .with_if_match();
    router.route(get_operation, get_account).route(update_operation, update_account)
}

async fn get_account(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let (object, revision) = state.record_service.account(&caller).await?;
    Ok(etag::json_with_etag(revision, &object))
}

async fn update_account(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    Ok(etag::saved_response(state.record_service.update_account(&caller, &body, expected_revision).await?))
}
