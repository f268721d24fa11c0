//! JSON bodies: content type, size, syntax, nesting, duplicate keys.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};

use super::error::ApiError;
use crate::syntax::node::{Node, NodeValue, Position};

/// Largest request body of version 3, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// Largest body that may hold scripts or many monitors, in bytes. The largest script is the Base64 text of a file
/// of 50 MiB (fields.md 2, selenium).
pub(super) const MAX_LARGE_BODY_BYTES: usize = 72 * 1024 * 1024;

/// A JSON body with source positions. Duplicate keys stay in the tree so that they can be reported as errors.
pub(super) struct JsonBody(pub(super) Node);

/// A JSON body that may be omitted; an omitted body is read as an empty object.
pub(super) struct OptionalJsonBody(pub(super) Node);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        require_json_content_type(&request)?;
        let bytes = read_body(request, state).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            let message = "The body is empty; send a JSON object".to_owned();
            return Err(ApiError::bad_request(vec![message]));
        }
        parse_json(&bytes).map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for OptionalJsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let media_type_check = require_json_content_type(&request);
        let bytes = read_body(request, state).await?;
        if bytes.is_empty() {
            let value = NodeValue::Map(Vec::new());
            return Ok(Self(Node { value, position: Position::default() }));
        }
        media_type_check?;
        parse_json(&bytes).map(Self)
    }
}

fn require_json_content_type(request: &Request) -> Result<(), ApiError> {
    let content_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|content_type| content_type.to_str().ok());
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "The body must be JSON, with `Content-Type: application/json`";
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

async fn read_body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    Bytes::from_request(request, state).await.map_err(|error| {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than this call takes");
        }
        let message = "The body was cut off, or arrived more slowly than 16 kB a second";
        ApiError::bad_request(vec![message.to_owned()])
    })
}

fn parse_json(bytes: &[u8]) -> Result<Node, ApiError> {
    Node::from_json(bytes).map_err(|error| {
        let position = error.position;
        let message = format!(
            "The body is not valid JSON: line {}, column {}: {}",
            position.line, position.column, error.message
        );
        ApiError::bad_request(vec![message])
    })
}
