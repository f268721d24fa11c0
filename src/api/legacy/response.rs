//! Responses of the legacy API: `metadata` with four strings, and `results` on success.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

use crate::domain::StoreError;
use crate::service::ServiceError;
use crate::syntax::ValidationErrorKind;

/// Status and message of a successful call.
const SUCCESS_STATUS_AND_MESSAGE: (u16, &str) = (0, "No errors.");

/// Why a call failed (behaviour.md 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LegacyError {
    status: u16,
    message: String,
}

impl LegacyError {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// 40: a wrong login, or a missing, unknown or expired session.
    pub(super) fn invalid_login() -> Self {
        Self::new(40, "Invalid login information.")
    }

    /// 64: `field` is required.
    pub(super) fn missing_field(field: &str) -> Self {
        Self::new(64, format!("Missing {field}"))
    }

    /// 65: the monitor does not exist, or its type cannot be created.
    pub(super) fn invalid_device() -> Self {
        Self::new(65, "Invalid device.")
    }

    /// 66: the value of `field` is invalid.
    pub(super) fn invalid_field(field: &str) -> Self {
        Self::new(66, format!("Invalid {field}"))
    }

    /// 99: an internal error.
    pub(super) fn internal_error(message: impl Into<String>) -> Self {
        Self::new(99, message)
    }
}

impl From<ServiceError> for LegacyError {
    fn from(source: ServiceError) -> Self {
        match source {
            ServiceError::Invalid(errors) => {
                let first = errors
                    .iter()
                    .find(|error| error.kind == ValidationErrorKind::MissingField)
                    .or(errors.first());
                let (status, message) = first.map_or_else(
                    || (66, "Invalid body".to_owned()),
                    crate::syntax::ValidationError::legacy_status,
                );
                Self::new(status, message)
            }
            ServiceError::Unauthenticated(_) | ServiceError::InvalidCredentials => Self::invalid_login(),
            ServiceError::UserLocked => Self::new(47, "Account locked or not yet active."),
            ServiceError::RateLimited(seconds) => {
                Self::new(47, format!("Too many attempts; try again in {seconds} s."))
            }
            ServiceError::Forbidden(message) => Self::new(63, message),
            ServiceError::NotFound => Self::invalid_device(),
            ServiceError::Conflict(message) => Self::new(66, message),
            ServiceError::PreconditionFailed => {
                Self::internal_error("The monitor has changed since; try again.")
            }
            ServiceError::Unavailable(message) => Self::internal_error(message),
            ServiceError::StoreFailed(error) => Self::from(error),
        }
    }
}

impl From<StoreError> for LegacyError {
    fn from(error: StoreError) -> Self {
        tracing::warn!(error_kind = error.kind(), error = %error, "failed to serve a legacy API request");
        Self::internal_error("The store is not available; try again later.")
    }
}

/// Results of a successful call, sent beside the metadata.
pub(super) enum LegacyResponse {
    /// `results` as one value.
    JsonResults(Value),
    /// `results` as an array, sent in chunks.
    StreamedResults(futures::stream::BoxStream<'static, std::io::Result<Vec<u8>>>),
}

/// Login and session of the caller; empty when unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct LoginAndSession {
    pub(super) login: String,
    pub(super) session: String,
}

impl LoginAndSession {
    fn to_json(&self, status: u16, message: &str) -> Value {
        json!({"login": self.login, "session": self.session, "status": status.to_string(), "message": message})
    }

    /// Builds the response to a failed call.
    pub(super) fn error_response(&self, error: &LegacyError) -> Response {
        Json(json!({"metadata": self.to_json(error.status, &error.message)})).into_response()
    }

    /// Builds the response to a successful call without results.
    pub(super) fn empty_response(&self) -> Response {
        Json(json!({"metadata": self.to_json(SUCCESS_STATUS_AND_MESSAGE.0, SUCCESS_STATUS_AND_MESSAGE.1)}))
            .into_response()
    }

    /// Builds the response to a successful call.
    pub(super) fn success_response(&self, response: LegacyResponse) -> Response {
        let metadata = self.to_json(SUCCESS_STATUS_AND_MESSAGE.0, SUCCESS_STATUS_AND_MESSAGE.1);
        match response {
            LegacyResponse::JsonResults(results) => {
                Json(json!({"metadata": metadata, "results": results})).into_response()
            }
            LegacyResponse::StreamedResults(chunks) => {
                let list_start = format!(r#"{{"metadata":{metadata},"results":["#);
                (
                    [(header::CONTENT_TYPE, "application/json")],
                    Body::from_stream(stream_array(list_start, chunks)),
                )
                    .into_response()
            }
        }
    }
}

/// Returns `list_start`, the chunks separated by commas, and the end of the document. A failed chunk aborts
/// the response.
fn stream_array(
    list_start: String,
    chunks: impl Stream<Item = std::io::Result<Vec<u8>>> + Send + 'static,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    let mut is_first_chunk = true;
    let chunks = chunks.filter(|chunk| std::future::ready(!matches!(chunk, Ok(bytes) if bytes.is_empty())));
    let chunks = chunks.map(move |chunk| {
        let separator: &[u8] = if std::mem::take(&mut is_first_chunk) { b"" } else { b"," };
        Ok(Bytes::from([separator, &chunk?].concat()))
    });
    let single_chunk = |bytes: Bytes| stream::once(std::future::ready(Ok(bytes)));
    single_chunk(Bytes::from(list_start)).chain(chunks).chain(single_chunk(Bytes::from_static(b"]}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ValidationError;
    use crate::syntax::node::Position;

    #[test]
    fn each_error_has_its_status_and_missing_fields_come_first() {
        let invalid = |kind, path: &str| ValidationError::new(kind, path, Position::default(), "m");
        let errors = vec![
            invalid(ValidationErrorKind::Range, "timeout"),
            invalid(ValidationErrorKind::MissingField, "name"),
            invalid(ValidationErrorKind::MissingField, "url"),
        ];
        for (error, status, message) in [
            (ServiceError::Invalid(errors), 64, "Missing name"),
            (
                ServiceError::Invalid(vec![invalid(ValidationErrorKind::Range, "api_steps[0].url")]),
                66,
                "Invalid api_steps",
            ),
            (ServiceError::Unauthenticated("x".to_owned()), 40, "Invalid login information."),
            (ServiceError::InvalidCredentials, 40, "Invalid login information."),
            (ServiceError::UserLocked, 47, "Account locked or not yet active."),
            (ServiceError::RateLimited(7), 47, "Too many attempts; try again in 7 s."),
            (ServiceError::Forbidden("no".to_owned()), 63, "no"),
            (ServiceError::NotFound, 65, "Invalid device."),
            (
                ServiceError::StoreFailed(StoreError::Closed),
                99,
                "The store is not available; try again later.",
            ),
        ] {
            assert_eq!(LegacyError::from(error), LegacyError::new(status, message));
        }
    }
}
