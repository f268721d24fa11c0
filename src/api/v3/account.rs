//! GET and PATCH `/account`: the account of the caller.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::operation::{Answer, Body, Operation, Verb};
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::schema::table::records::ACCOUNT;
use crate::service::Caller;

pub(super) fn routes(routes: Routes) -> Routes {
    let get = Operation::new(Verb::Get, "/account", "getAccount", "account", "The account of the caller")
        .answer(Answer::One(&ACCOUNT));
    let about = "Change time zone, default locations, thresholds and brand of the account";
    let patch = Operation::new(Verb::Patch, "/account", "updateAccount", "account", about)
        .right(Some(Permission::Administer))
        .body(Body::Patch(&ACCOUNT))
        .answer(Answer::Saved(None))
        .if_match();
    routes.on(get, one).on(patch, change)
}

async fn one(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let (object, revision) = state.resources.account(&caller).await?;
    Ok(etag::tagged(revision, &object))
}

async fn change(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    Ok(etag::saved(state.resources.update_account(&caller, &body, if_match).await?))
}
