//! The routes of the legacy API.

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, patch, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::call::authorize_and_run;
use super::response::{LegacyError, LoginAndSession};
use crate::api::state::ApiState;
use crate::domain::Permission;

type RawPathId = Result<Path<String>, PathRejection>;

/// Builds the routes below `/legacy-api`.
pub fn router(state: ApiState) -> Router {
    let list_devices = async |State(state): State<ApiState>, request: Request| {
        authorize_and_run(state, Permission::View, request, super::devices::list).await
    };
    let create_device = async |State(state): State<ApiState>, request: Request| {
        authorize_and_run(state, Permission::Edit, request, super::device_edits::create).await
    };
    let update_device = async |State(state): State<ApiState>, id: RawPathId, request: Request| {
        authorize_and_run(state, Permission::Edit, request, |call| {
            super::device_edits::update(call, id_from_path(id))
        })
        .await
    };
    let remove_device = async |State(state): State<ApiState>, id: RawPathId, request: Request| {
        authorize_and_run(state, Permission::Edit, request, |call| {
            super::device_edits::remove(call, id_from_path(id))
        })
        .await
    };
    let list_locations = async |State(state): State<ApiState>, request: Request| {
        authorize_and_run(state, Permission::View, request, super::locations::list).await
    };
    Router::new()
        .route("/login", post(super::login::log_in))
        .route("/devices", get(list_devices).post(create_device))
        .route("/devices/{id}", patch(update_device).delete(remove_device))
        .route("/locations", get(list_locations))
        .with_state(state)
        .fallback(async || invalid_request_response("path"))
        .method_not_allowed_fallback(async || invalid_request_response("method"))
        .layer(CatchPanicLayer::custom(|_| {
            LoginAndSession::default()
                .error_response(&LegacyError::internal_error("Internal error; see the server log."))
        }))
}

/// Returns the id in the path as sent; empty when it is not valid text.
fn id_from_path(id: RawPathId) -> String {
    id.map(|Path(text)| text).unwrap_or_default()
}

fn invalid_request_response(field: &str) -> Response {
    LoginAndSession::default().error_response(&LegacyError::invalid_field(field))
}
