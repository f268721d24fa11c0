//! The routes of the pages.

use axum::routing::get;
use axum::{Router, middleware};

use super::gate::Gate;
use super::responses::{asset, not_found};
use super::site::Site;

/// All paths but those of the APIs; `gate` stands before pages and metrics.
pub fn router(site: Site, gate: Gate) -> Router {
    let kept = Router::new()
        .route("/", get(super::status::page))
        .route("/monitors/{id}", get(super::monitor::page))
        .route("/results/{id}", get(super::result::page))
        .route("/results/{id}/captures/{name}", get(super::capture::file))
        .route("/metrics", get(super::health::metrics))
        .route_layer(middleware::from_fn_with_state(gate, super::gate::keep));
    kept.route("/style.css", get(async || asset("text/css; charset=utf-8", include_str!("style.css"))))
        .route("/icon.svg", get(async || asset("image/svg+xml", include_str!("icon.svg"))))
        .route("/healthz", get(super::health::healthz))
        .route("/readyz", get(super::health::readyz))
        .fallback(async || not_found("There is no page at this address"))
        .with_state(site)
}
