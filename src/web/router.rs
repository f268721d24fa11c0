//! The routes of the pages.

use axum::routing::{get, post};
use axum::{Router, middleware};

use super::locations_state::LocationsState;
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
        .route_layer(middleware::from_fn_with_state(auth.clone(), super::page_auth::require_page_access));
    let metrics_route = Router::new()
        .route("/metrics", get(super::health::get_metrics))
        .route_layer(middleware::from_fn_with_state(auth.clone(), super::page_auth::require_metrics_access));
    let sign_in_routes = Router::new()
        .route("/sign-in", get(super::sign_in::get_sign_in).post(super::sign_in::post_sign_in))
        .route("/sign-in/link", get(super::sign_in::get_sign_in_link).post(super::sign_in::post_sign_in_link))
        .route("/sign-out", post(super::sign_in::post_sign_out))
        .with_state(auth);
    protected_routes
        .merge(metrics_route)
        .merge(sign_in_routes)
        .route("/style.css", get(async || static_asset("text/css; charset=utf-8", include_str!("style.css"))))
        .route("/icon.svg", get(async || static_asset("image/svg+xml", include_str!("icon.svg"))))
        .route("/healthz", get(super::health::get_liveness))
        .route("/readyz", get(super::health::get_readiness))
        .fallback(async || not_found("This page does not exist"))
        .with_state(state)
}

/// Builds the route of the page of locations; `auth` protects it.
pub fn locations_router(state: LocationsState, auth: PageAuth) -> Router {
    Router::new()
        .route("/locations", get(super::locations_page::get_page))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access))
        .with_state(state)
}
