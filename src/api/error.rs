//! The error body of version 3 (behaviour.md 1): `{"errors":[{"code":<http status>,"message":"<text>"}]}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::domain::StoreError;
use crate::service::ServiceError;

/// The error response of a call, with one message per error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    status: StatusCode,
    messages: Vec<String>,
    /// Seconds for `Retry-After`.
    retry_after_seconds: Option<u64>,
}

impl ApiError {
    /// Creates an error with one message.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, messages: vec![message.into()], retry_after_seconds: None }
    }

    /// Creates a 400 response that lists every error.
    #[must_use]
    pub fn bad_request(messages: Vec<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, messages, retry_after_seconds: None }
    }

    /// Creates the 404 response of behaviour.md 1.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Record not found")
    }
}

impl From<ServiceError> for ApiError {
    fn from(source: ServiceError) -> Self {
        match source {
            ServiceError::Invalid(errors) => {
                Self::bad_request(errors.into_iter().map(|error| error.to_string()).collect())
            }
            ServiceError::Unauthenticated(message) => Self::new(StatusCode::UNAUTHORIZED, message),
            ServiceError::InvalidCredentials | ServiceError::UserLocked => {
                Self::new(StatusCode::BAD_REQUEST, "invalid_request - User authentication failed.")
            }
            ServiceError::Forbidden(message) => Self::new(StatusCode::FORBIDDEN, message),
            ServiceError::NotFound => Self::not_found(),
            ServiceError::Conflict(message) => Self::new(StatusCode::CONFLICT, message),
            ServiceError::PreconditionFailed => Self::new(
                StatusCode::PRECONDITION_FAILED,
                "The object has changed since; read it again and send the change with the new `ETag`",
            ),
            ServiceError::RateLimited(seconds) => Self {
                retry_after_seconds: Some(seconds),
                ..Self::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    format!("Too many attempts; try again in {seconds} s"),
                )
            },
            ServiceError::Unavailable(message) => Self::new(StatusCode::SERVICE_UNAVAILABLE, message),
            ServiceError::StoreFailed(error) => Self::from(error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::warn!(error_kind = error.kind(), error = %error, "failed to serve an API request");
        let (status, message) = match error {
            StoreError::QueryTimeout => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The query timed out; request a shorter period or fewer monitors",
            ),
            StoreError::DiskFull(_)
            | StoreError::Locked(_)
            | StoreError::Unavailable(_)
            | StoreError::Closed => {
                (StatusCode::SERVICE_UNAVAILABLE, "The store is not available; try again later")
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "The store cannot be read; see the server log"),
        };
        Self::new(status, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let code = self.status.as_u16();
        let errors: Vec<_> =
            self.messages.iter().map(|message| json!({"code": code, "message": message})).collect();
        let mut response = (self.status, Json(json!({"errors": errors}))).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
