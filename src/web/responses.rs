//! Pages that report an error.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::notice::{render_notice_page, render_retry_page};
use crate::domain::StoreError;
use crate::service::ServiceError;

/// Builds a page with the status 404 and `message`.
pub(super) fn not_found(message: &str) -> Response {
    (StatusCode::NOT_FOUND, render_notice_page("Not found", message)).into_response()
}

/// Logs `error` of a service and builds a page with the status 503.
pub(super) fn service_unavailable(error: &ServiceError) -> Response {
    match error {
        ServiceError::StoreFailed(error) => store_unavailable(error),
        error => {
            tracing::warn!(error = ?error, "failed to render a page");
            let message = "The server cannot show this now; see its log.";
            (StatusCode::SERVICE_UNAVAILABLE, render_retry_page("Not available", message)).into_response()
        }
    }
}

/// Logs `error` of the store and builds a page with the status 503.
pub(super) fn store_unavailable(error: &StoreError) -> Response {
    tracing::warn!(error_kind = error.kind(), error = %error, "failed to render a page");
    let message = "The store cannot be read; see the server log.";
    (StatusCode::SERVICE_UNAVAILABLE, render_retry_page("Results are not available", message)).into_response()
}
