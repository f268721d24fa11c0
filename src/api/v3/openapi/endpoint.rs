//! Serves the OpenAPI document and its page.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Query;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use super::document::build_document;
use crate::api::operation::Operation;

/// Builds the router of document and page. They need no login: the description of the API is not secret.
pub(in crate::api::v3) fn openapi_router(operations: &[Operation]) -> Router {
    let document_file = build_document(operations).to_string();
    let document_file = StaticFile::new("application/json", document_file);
    let page_file = page_file(operations, "");
    let style_file = StaticFile::new("text/css; charset=utf-8", include_str!("docs.css").to_owned());
    let files = [("/openapi.json", document_file), ("/docs.css", style_file)];
    let router = files.into_iter().fold(Router::new(), |router, (path, file)| {
        router.route(path, get(async move |headers: HeaderMap| file.respond(&headers)))
    });
    let operations: Arc<[Operation]> = Arc::from(operations);
    ["/", "/docs"].into_iter().fold(router, |router, path| {
        let (page, operations) = (page_file.clone(), Arc::clone(&operations));
        router.route(
            path,
            get(async move |Query(query): Query<SearchQuery>, headers: HeaderMap| {
                let search: String = query.q.trim().chars().take(MAX_SEARCH_CHARS).collect();
                let page = if search.is_empty() { page } else { self::page_file(&operations, &search) };
                page.respond(&headers)
            }),
        )
    })
}

/// Longest text that is searched for, in characters.
const MAX_SEARCH_CHARS: usize = 100;

/// `?q=`: what calls and objects have to contain.
#[derive(Deserialize)]
struct SearchQuery {
    #[serde(default)]
    q: String,
}

fn page_file(operations: &[Operation], search: &str) -> StaticFile {
    StaticFile::new("text/html; charset=utf-8", super::page::render_page(operations, search))
}

/// A file generated at startup, with an entity tag of its content.
#[derive(Clone)]
struct StaticFile {
    content_type: HeaderValue,
    content: Bytes,
    etag: Arc<str>,
}

impl StaticFile {
    fn new(content_type: &'static str, content: String) -> Self {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, content.as_bytes());
        let digest_prefix = digest.as_ref().first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
        let etag = Arc::from(format!("\"{digest_prefix:032x}\""));
        Self { content_type: HeaderValue::from_static(content_type), content: Bytes::from(content), etag }
    }

    /// Builds the response: 304 when the caller has the content already (RFC 9110, section 13.1.2).
    fn respond(&self, headers: &HeaderMap) -> Response {
        let etag = HeaderValue::from_str(&self.etag).unwrap_or_else(|_| HeaderValue::from_static("\"\""));
        let cache_headers =
            [(header::ETAG, etag), (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))];
        if self.is_cached_by(headers) {
            return (StatusCode::NOT_MODIFIED, cache_headers).into_response();
        }
        let content_type: [(HeaderName, HeaderValue); 1] =
            [(header::CONTENT_TYPE, self.content_type.clone())];
        (cache_headers, content_type, self.content.clone()).into_response()
    }

    fn is_cached_by(&self, headers: &HeaderMap) -> bool {
        let etags = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let mut etags = etags.flat_map(|value| value.split(','));
        etags.any(|etag| {
            let etag = etag.trim();
            // Compression by a server may have made the tag weak.
            etag == "*" || etag.trim_start_matches("W/") == &*self.etag
        })
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
