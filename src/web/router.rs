//! The routes of the pages.

use axum::routing::get;
use axum::{Router, middleware};

use super::page_auth::PageAuth;
use super::page_state::PageState;
use super::responses::{not_found, static_asset};

/// Builds all routes but those of the APIs; `auth` protects pages and metrics.
pub fn router(state: PageState, auth: PageAuth) -> Router {
    let protected_routes = Router::new()
        .route("/", get(super::status_page::get_page))
        .route("/monitors/{id}", get(super::monitor_page::get_page))
        .route("/results/{id}", get(super::result_page::get_page))
        .route("/results/{id}/captures/{name}", get(super::captures::get_capture))
        .route("/manual", get(super::manual::redirect_to_index))
        .route("/manual/", get(super::manual::get_index_or_search_results))
        .route("/manual/{*name}", get(super::manual::get_page))
        .route("/metrics", get(super::health::get_metrics))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access));
    protected_routes
        .route("/style.css", get(async || static_asset("text/css; charset=utf-8", include_str!("style.css"))))
        .route("/icon.svg", get(async || static_asset("image/svg+xml", include_str!("icon.svg"))))
        .route("/healthz", get(super::health::get_liveness))
        .route("/readyz", get(super::health::get_readiness))
        .fallback(async || not_found("This page does not exist"))
        .with_state(state)
}
