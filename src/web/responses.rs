//! Static files, and pages that report an error.

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::domain::StoreError;
use crate::service::ServiceError;

/// Headers and content of a static file.
type StaticAsset = ([(HeaderName, &'static str); 2], &'static str);

/// Builds the response of a static file, which browsers keep for five minutes.
pub(super) fn static_asset(content_type: &'static str, content: &'static str) -> StaticAsset {
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "max-age=300")], content)
}

/// Builds a page with the status 404 and `message`.
pub(super) fn not_found(message: &str) -> Response {
    (StatusCode::NOT_FOUND, super::html::render_notice_page("Not found", message)).into_response()
}

/// Logs `error` of a service and builds a page with the status 503.
pub(super) fn service_unavailable(error: &ServiceError) -> Response {
    match error {
        ServiceError::StoreFailed(error) => store_unavailable(error),
        error => {
            tracing::warn!(error = ?error, "failed to render a page");
            let message = "The server cannot show this now; see its log. This page reloads automatically.";
            (StatusCode::SERVICE_UNAVAILABLE, super::html::render_notice_page("Not available", message))
                .into_response()
        }
    }
}

/// Logs `error` of the store and builds a page with the status 503.
pub(super) fn store_unavailable(error: &StoreError) -> Response {
    tracing::warn!(error_kind = error.kind(), error = %error, "failed to render a page");
    let message = "The store cannot be read; see the server log. This page reloads automatically.";
    (StatusCode::SERVICE_UNAVAILABLE, super::html::render_notice_page("Results are not available", message))
        .into_response()
}
