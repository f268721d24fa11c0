//! Masks the values of queries in URLs for callers who may only read, and on public pages: they often are personal, or
//! credentials whose names do not say so.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::Response;
use futures::StreamExt;

use crate::domain::Permission;
use crate::redaction::urls::redact_query_values;
use crate::service::Caller;

/// Marks a response whose reader must not see the values of queries.
#[derive(Clone, Copy)]
pub(super) struct HideQueryValues;

/// Middleware: masks the values of queries in the response, where its reader must not see them.
pub(super) async fn hide_query_values(response: Response) -> Response {
    let extensions = response.extensions();
    let is_read_only = extensions.get::<Caller>().is_some_and(|caller| !caller.role.allows(Permission::Edit));
    if !is_read_only && extensions.get::<HideQueryValues>().is_none() || !is_text(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    // Each part of a list holds whole objects, and everything else is one part: no URL is in two parts.
    let chunks = body.into_data_stream().map(|chunk| chunk.map(redact_chunk));
    Response::from_parts(parts, Body::from_stream(chunks))
}

fn redact_chunk(chunk: Bytes) -> Bytes {
    let text = String::from_utf8_lossy(&chunk);
    match redact_query_values(&text) {
        Cow::Owned(redacted) => Bytes::from(redacted),
        Cow::Borrowed(_) => chunk,
    }
}

/// Whether the response is anything but an image.
fn is_text(response: &Response) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    !content_type.is_some_and(|content_type| content_type.as_bytes().starts_with(b"image/"))
}
