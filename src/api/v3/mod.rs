//! Version 3, base `/api/v3` (behaviour.md 1).

mod locations;
mod monitors;
mod results;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::middleware;
use axum::routing::get;

use super::{ApiError, access};
use crate::control::View;

/// The paths below `/api/v3`.
pub fn router(view: Arc<View>) -> Router {
    Router::new()
        .route("/locations", get(locations::list))
        .route("/locations/{id}", get(locations::one))
        .route("/monitors", get(monitors::list))
        .route("/monitors/{id}", get(monitors::one))
        .route("/results", get(results::list))
        .route("/results/{id}", get(results::one))
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(async |method: Method| {
            let message = format!("`{method}` is not possible here; this version reads only");
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message)
        })
        .layer(middleware::from_fn(access::local_only))
        .with_state(view)
}
