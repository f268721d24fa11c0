//! JSON bodies: content type, size, syntax, nesting, duplicate keys.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};

use super::ApiError;
use crate::model::source::Node;

/// A JSON body as the located tree, in which a key that stands there twice is kept twice so that it can be
/// named as a fault.
pub(super) struct JsonBody(pub(super) Node);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let message = "The body must be JSON, with `Content-Type: application/json`";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|error| {
            ApiError::new(error.status(), "The body is larger than the server takes, or was cut off")
        })?;
        let node = Node::from_json(&bytes).map_err(|error| ApiError::bad_request(vec![error.to_string()]))?;
        Ok(Self(node))
    }
}
