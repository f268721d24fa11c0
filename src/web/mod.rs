//! The pages and the endpoints for machines that watch: status page, pages of monitors and results,
//! `/metrics`, `/healthz`, `/readyz`. Pages are whole HTML documents that need no script and nothing from elsewhere.

mod bar;
mod capture;
mod course;
mod gate;
mod guard;
mod health;
mod html;
mod monitor;
mod played;
mod result;
mod status;
mod trail;

use std::sync::Arc;

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};

use crate::clock::Clock;
use crate::pipeline::Vitals;
use crate::service::StoreError;
use crate::service::View;
use crate::telemetry::Metrics;

pub use gate::Gate;
pub use guard::{Bounds, guarded};

/// What the pages are made of.
#[derive(Clone)]
pub struct Site {
    /// Monitors and results.
    pub view: Arc<View>,
    /// State of the process.
    pub vitals: Arc<dyn Vitals>,
    /// Metrics of the process.
    pub metrics: Arc<Metrics>,
    /// For "12 s ago".
    pub clock: Arc<dyn Clock>,
}

/// All paths but those of the APIs; `gate` stands before pages and metrics.
pub fn router(site: Site, gate: Gate) -> Router {
    let kept = Router::new()
        .route("/", get(status::page))
        .route("/monitors/{id}", get(monitor::page))
        .route("/results/{id}", get(result::page))
        .route("/results/{id}/captures/{name}", get(capture::file))
        .route("/metrics", get(health::metrics))
        .route_layer(middleware::from_fn_with_state(gate, gate::keep));
    kept.route("/style.css", get(async || asset("text/css; charset=utf-8", include_str!("style.css"))))
        .route("/icon.svg", get(async || asset("image/svg+xml", include_str!("icon.svg"))))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .fallback(async || not_found("There is no page at this address"))
        .with_state(site)
}

type Asset = ([(HeaderName, &'static str); 2], &'static str);

fn asset(kind: &'static str, content: &'static str) -> Asset {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "max-age=300")], content)
}

fn not_found(what: &str) -> Response {
    (StatusCode::NOT_FOUND, html::notice("Not found", what)).into_response()
}

fn store_unavailable(error: &StoreError) -> Response {
    tracing::warn!(error_kind = error.kind(), error = %error, "cannot show a page");
    let what =
        "The store cannot be read now. The log of the server says why; this page tries again by itself.";
    (StatusCode::SERVICE_UNAVAILABLE, html::notice("Results are not available", what)).into_response()
}
