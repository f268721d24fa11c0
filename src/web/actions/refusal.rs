//! The response to an action that was refused.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::service::ServiceError;
use crate::web::notice::render_notice_page;
use crate::web::responses::{not_found, service_unavailable};

/// Builds the response to an action that failed; nothing was changed.
pub(in crate::web) fn refused(error: &ServiceError) -> Response {
    let (status, message) = match error {
        ServiceError::Invalid(errors) => {
            let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
            (StatusCode::BAD_REQUEST, messages.join("; "))
        }
        ServiceError::Forbidden(message) => (StatusCode::FORBIDDEN, message.clone()),
        ServiceError::Conflict(message) => (StatusCode::CONFLICT, message.clone()),
        ServiceError::PreconditionFailed => (
            StatusCode::PRECONDITION_FAILED,
            "Somebody else changed it at the same time; look again".to_owned(),
        ),
        ServiceError::RateLimited(seconds) => {
            (StatusCode::TOO_MANY_REQUESTS, format!("Too many at once; try again in {seconds} s"))
        }
        ServiceError::NotFound => return not_found("The monitor does not exist"),
        error => return service_unavailable(error),
    };
    (status, render_notice_page("Not done", &message)).into_response()
}
