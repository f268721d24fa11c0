//! The routes of the pages.

use axum::routing::get;
use axum::{Router, middleware};

use super::gate::PageAuth;
use super::responses::{not_found, static_asset};
use super::site::PageState;

/// All paths but those of the APIs; `gate` stands before pages and metrics.
pub fn router(site: PageState, gate: PageAuth) -> Router {
    let kept = Router::new()
        .route("/", get(super::status::get_page))
        .route("/monitors/{id}", get(super::monitor::get_page))
        .route("/results/{id}", get(super::result::get_page))
        .route("/results/{id}/captures/{name}", get(super::capture::get_capture))
        .route("/metrics", get(super::health::metrics))
        .route_layer(middleware::from_fn_with_state(gate, super::gate::require_auth));
    kept.route("/style.css", get(async || static_asset("text/css; charset=utf-8", include_str!("style.css"))))
        .route("/icon.svg", get(async || static_asset("image/svg+xml", include_str!("icon.svg"))))
        .route("/healthz", get(super::health::healthz))
        .route("/readyz", get(super::health::readyz))
        .fallback(async || not_found("There is no page at this address"))
        .with_state(site)
}
