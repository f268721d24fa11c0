//! The captures of a result: shown on its page, and each served at its own address.

use std::fmt::Write;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::lookup::find_result_if_captures_visible;
use crate::domain::{CapturedFile, CheckResult};
use crate::texts::{Locale, key};
use crate::web::html::escape;
use crate::web::page_state::PageState;
use crate::web::responses::{not_found, store_unavailable};
use crate::web::viewer::Viewer;

/// Renders pictures first, then links to the other files, which are below `path`; nothing without captures. Writing into a string cannot fail.
pub(super) fn render_captures(out: &mut String, result: &CheckResult, path: &str, t: Locale) {
    if result.captures.is_empty() {
        return;
    }
    let _ = write!(out, "<h2>{}</h2>", t.text("Captures"));
    let (images, other_files): (Vec<_>, Vec<_>) = result.captures.iter().partition(|file| file.is_image());
    if !images.is_empty() {
        // A script of the page shows a picture large in a dialog; without it, the link opens the picture.
        out.push_str(r#"<div class="shots">"#);
        for image in images {
            let (url, name, text) =
                (capture_url(path, image), escape(&image.name), picture_text(&image.name, t));
            let _ = write!(
                out,
                r#"<figure><a href="{url}"><img src="{url}" alt="{}" loading="lazy"></a><figcaption>{name}</figcaption></figure>"#,
                escape(&text)
            );
        }
        out.push_str("</div>");
    }
    if !other_files.is_empty() {
        out.push_str(r#"<ul class="files">"#);
        for file in other_files {
            let (url, name) = (capture_url(path, file), escape(&file.name));
            let size = t.fill("{size} bytes", &[("size", &file.content_bytes.to_string())]);
            let _ = write!(out, r#"<li><a href="{url}">{name}</a> {size}</li>"#);
        }
        out.push_str("</ul>");
    }
}

/// Returns what a picture shows: those of a script are named like `attempt-1-step-02-act-03.png`.
fn picture_text(name: &str, t: Locale) -> String {
    let stem = name.split('.').next().unwrap_or_default();
    let parts: Vec<_> = stem.split('-').collect();
    let number_after = |label: &str| {
        let at = parts.iter().position(|part| *part == label)?;
        parts.get(at + 1)?.parse::<u32>().ok()
    };
    let number = |label: &str| number_after(label).map(|number| number.to_string());
    let Some(step) = number("step") else { return t.fill("Screenshot {name}", &[("name", name)]) };
    let (action, attempt) = (number("act"), number("attempt"));
    let text = match (&action, &attempt) {
        (None, None) => key("Screenshot of step {step}"),
        (Some(_), None) => key("Screenshot of step {step} at action {action}"),
        (None, Some(_)) => key("Screenshot of step {step} of attempt {attempt}"),
        (Some(_), Some(_)) => key("Screenshot of step {step} at action {action} of attempt {attempt}"),
    };
    let (action, attempt) = (action.unwrap_or_default(), attempt.unwrap_or_default());
    t.fill(text, &[("step", &step), ("action", &action), ("attempt", &attempt)])
}

fn capture_url(path: &str, capture: &CapturedFile) -> String {
    format!("{path}/{}", utf8_percent_encode(&capture.name, NON_ALPHANUMERIC))
}

/// `GET /results/{id}/captures/{name}`
pub(in crate::web) async fn get_capture(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    Path((id, name)): Path<(String, String)>,
) -> Response {
    let capture_not_found = || not_found("The file does not exist");
    let capture_result = match find_result_if_captures_visible(&state, &viewer, &id).await {
        Ok(Some(result)) => state.monitor_reader.capture(result.check_id, name).await,
        Ok(None) => return capture_not_found(),
        Err(error) => Err(error),
    };
    match capture_result {
        // A result does not change.
        Ok(Some(file)) => {
            capture_response(file, "private, max-age=3600, immutable").unwrap_or_else(capture_not_found)
        }
        Ok(None) => capture_not_found(),
        Err(error) => store_unavailable(&error),
    }
}

/// Serves images as they are and all else as plain text; `None` without content. The content comes from a target, which
/// may be hostile: browsers must neither run it nor guess another type.
pub(in crate::web) fn capture_response(file: CapturedFile, cache_control: &'static str) -> Option<Response> {
    let content = file.content?;
    let content_type = match file.media_type.as_str() {
        "image/png" => "image/png",
        "image/jpeg" => "image/jpeg",
        _ => "text/plain; charset=utf-8",
    };
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache_control)),
    ];
    Some((headers, content.to_vec()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_say_what_they_show() {
        let t = Locale::default();
        assert_eq!(picture_text("step-02-act-13.png", t), "Screenshot of step 2 at action 13");
        assert_eq!(picture_text("attempt-2-step-10.jpg", t), "Screenshot of step 10 of attempt 2");
        assert_eq!(picture_text("my-cart-2.png", t), "Screenshot my-cart-2.png");
    }
}
