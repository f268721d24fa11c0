//! `select` of calls that return one object (behaviour.md 1): which of its fields are returned.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::error::ApiError;
use super::operation::SELECT_PARAM;
use super::query::QueryParams;

/// Reduces the response to the fields that `selection` names. The handler reads the other parameters.
pub(super) async fn select_fields(request: Request, next: Next) -> Response {
    let query = QueryParams::parse_ignoring_unknown(request.uri(), &[SELECT_PARAM.name]);
    let selection = query.field_selection();
    if let Err(error) = query.into_result() {
        return error.into_response();
    }
    let response = next.run(request).await;
    if selection.is_all() || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // The response is Vigie's own and in memory already.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        let message = "Internal error; see the server log";
        return ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message).into_response();
    };
    let Ok(mut object) = serde_json::from_slice::<Map<String, Value>>(&bytes) else {
        // Not an object: the response to a HEAD request.
        return Response::from_parts(parts, Body::from(bytes));
    };
    selection.remove_unselected(&mut object);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(Value::Object(object).to_string()))
}
