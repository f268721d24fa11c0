//! POST `/sign-in-links`: a link that signs in to the pages, for `vigie open` on the host itself.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;

use crate::api::error::ApiError;
use crate::api::operation::{Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::schema::table::records::SIGN_IN_LINK;
use crate::service::Caller;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation = Operation::new(
        OperationMethod::Post,
        "/sign-in-links",
        "createSignInLink",
        "access-tokens",
        "A link that signs in to the pages once within ten minutes; requires the host token",
    );
    let operation = operation
        .with_permission(Some(Permission::ManageAdmins))
        .with_response(ResponseSpec::Object(&SIGN_IN_LINK))
        .with_additional_status(429, "Too many links are valid; `Retry-After` says when to try again");
    router.route(operation, create_sign_in_link)
}

async fn create_sign_in_link(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let link = state.account_service.create_sign_in_link(&caller)?;
    let path = format!("/sign-in/link?token={}", link.token);
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(([no_store], Json(json!({"path": path, "expires_in": link.expires_in}))).into_response())
}
