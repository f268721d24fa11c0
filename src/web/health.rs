//! Endpoints for monitoring systems: metrics, liveness and readiness.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::monitor_metrics::OPEN_METRICS;
use super::page_state::PageState;
use crate::telemetry::HealthCondition;

/// `GET /metrics` in the text format of `OpenMetrics` 1.0, which Prometheus reads.
pub(super) async fn get_metrics(State(state): State<PageState>) -> Response {
    let now = state.clock.now();
    let counts = match state.monitor_reader.property_counts(&state.metrics_properties, now).await {
        Ok(counts) => counts,
        Err(error) => {
            tracing::warn!(error = %error, "failed to count monitors by property for the metrics");
            Vec::new()
        }
    };
    ([(header::CONTENT_TYPE, OPEN_METRICS)], state.metrics.encode_with_property_counts(&counts))
        .into_response()
}

/// `GET /healthz`: 200 while the process makes progress, else 503, on which it should be restarted.
pub(super) async fn get_liveness(State(state): State<PageState>) -> Response {
    health_response(&state.health.liveness())
}

/// `GET /readyz`: 200 when the process can do its work, else 503 with the reasons.
pub(super) async fn get_readiness(State(state): State<PageState>) -> Response {
    health_response(&[state.health.liveness(), state.health.readiness()].concat())
}

/// Returns the response of a health probe, with the body `{"status": "ok" | "failing", "checks": {name: "ok" | reason}}`.
#[must_use]
pub fn health_response(conditions: &[HealthCondition]) -> Response {
    let is_healthy = conditions.iter().all(|condition| condition.unmet_reason.is_none());
    let (http_status, status) =
        if is_healthy { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "failing") };
    let checks: Map<String, Value> = conditions
        .iter()
        .map(|condition| {
            (condition.name.to_owned(), json!(condition.unmet_reason.as_deref().unwrap_or("ok")))
        })
        .collect();
    (http_status, Json(json!({"status": status, "checks": checks}))).into_response()
}
