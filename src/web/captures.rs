//! The files that a result holds as evidence: shown on its page, and each at an address of its own.

use std::fmt::Write;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::html::escape;
use super::page_auth::Viewer;
use super::page_state::PageState;
use super::responses::{not_found, store_unavailable};
use super::result_lookup::find_result;
use crate::domain::{Capture, CheckResult};

/// Pictures first, then the names of all else; nothing where there are none. Writing into a string cannot fail.
pub(super) fn render_captures(out: &mut String, result: &CheckResult) {
    if result.captures.is_empty() {
        return;
    }
    out.push_str("<h2>Captures</h2>");
    let (pictures, others): (Vec<_>, Vec<_>) = result.captures.iter().partition(|file| file.is_image());
    if !pictures.is_empty() {
        out.push_str(r#"<div class="shots">"#);
        for picture in pictures {
            let (at, name) = (capture_url(result, picture), escape(&picture.name));
            let _ = write!(
                out,
                r#"<figure><a href="{at}"><img src="{at}" alt="{name}" loading="lazy"></a><figcaption>{name}</figcaption></figure>"#
            );
        }
        out.push_str("</div>");
    }
    if !others.is_empty() {
        out.push_str(r#"<ul class="files">"#);
        for file in others {
            let (at, name, bytes) = (capture_url(result, file), escape(&file.name), file.bytes);
            let _ = write!(out, r#"<li><a href="{at}">{name}</a> {bytes} bytes</li>"#);
        }
        out.push_str("</ul>");
    }
}

fn capture_url(result: &CheckResult, file: &Capture) -> String {
    format!("/results/{}/captures/{}", result.check_id, utf8_percent_encode(&file.name, NON_ALPHANUMERIC))
}

/// `GET /results/{id}/captures/{name}`: pictures as they are, all else as plain text. It comes from a target, which may
/// be hostile: nothing of it runs, and nothing of it is taken for another type.
pub(super) async fn get_capture(
    State(site): State<PageState>,
    Extension(audience): Extension<Viewer>,
    Path((id, name)): Path<(String, String)>,
) -> Response {
    let gone = || not_found("There is no such file");
    if !audience.can_see_captures {
        return gone();
    }
    let found = match find_result(&site, audience, &id).await {
        Ok(Some(result)) => site.queries.capture(result.check_id, name).await,
        Ok(None) => return gone(),
        Err(error) => Err(error),
    };
    let file = match found {
        Ok(Some(file)) => file,
        Ok(None) => return gone(),
        Err(error) => return store_unavailable(&error),
    };
    let kind = match file.mimetype.as_str() {
        "image/png" => "image/png",
        "image/jpeg" => "image/jpeg",
        _ => "text/plain; charset=utf-8",
    };
    let fields: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        // A result does not change; the page asks for itself again and again.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600, immutable")),
    ];
    match file.content {
        Some(content) => (fields, content.to_vec()).into_response(),
        None => gone(),
    }
}
