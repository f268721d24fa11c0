//! The forms of the pages: their fields, where they come from, and where they lead to.

use std::collections::HashMap;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::csrf::{RequestOrigin, is_form_token, request_authority, request_origin};
use super::notice::render_notice_page;
use super::page_auth::PageAuth;
use crate::service::ClientConnection;

/// Largest body of a form, in bytes.
const MAX_FORM_BYTES: usize = 16 * 1024;
/// Longest path to return to, in bytes.
const MAX_NEXT_BYTES: usize = 2_000;

/// Whether the request comes from a form of this server and carries the token that belongs to `cookie_value`.
pub(super) fn is_own_form(head: &Parts, cookie_value: Option<&str>, sent_token: &str) -> bool {
    origin_from_head(head) == RequestOrigin::SameOrigin
        && cookie_value.is_some_and(|cookie_value| is_form_token(cookie_value, sent_token))
}

/// Returns where the request with `head` comes from.
pub(super) fn origin_from_head(head: &Parts) -> RequestOrigin {
    let authority = request_authority(&head.uri, &head.headers).unwrap_or_default();
    let is_tls = ClientConnection::from_extensions(&head.extensions).is_tls;
    request_origin(&head.headers, &authority, is_tls)
}

/// Returns the address of this server that the request with `head` was sent to, without a path.
pub(super) fn server_address(head: &Parts) -> String {
    let scheme = if ClientConnection::from_extensions(&head.extensions).is_tls { "https" } else { "http" };
    format!("{scheme}://{}", request_authority(&head.uri, &head.headers).unwrap_or_default())
}

/// Builds the response to a form of another site.
pub(super) fn foreign_form_response() -> Response {
    let message = "The form came from another site, or its session has ended. Nothing was changed.";
    (StatusCode::FORBIDDEN, render_notice_page("Not accepted", message)).into_response()
}

/// Redirects to `location`, a path of this server, and sets `cookie`.
pub(super) fn see_other(location: &str, cookie: Option<HeaderValue>) -> Response {
    with_cookie((StatusCode::SEE_OTHER, [(header::LOCATION, location.to_owned())]).into_response(), cookie)
}

/// Adds a `Set-Cookie` header to `response`.
pub(super) fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    response
}

/// Returns `next` if it is a path of this server, otherwise `/`: a link to the sign-in page must not lead to another
/// site.
pub(super) fn local_path(next: &str) -> String {
    if is_local_path(next) && !next.starts_with("/sign-") { next.to_owned() } else { "/".to_owned() }
}

/// Whether `path` leads to a page of this server.
pub(super) fn is_local_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.len() <= MAX_NEXT_BYTES
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// Reads the fields of a form, unless the request has an unknown host name.
pub(super) async fn read_form(
    auth: &PageAuth,
    request: Request,
) -> Result<(Parts, HashMap<String, String>), Response> {
    read_form_of(auth, request, MAX_FORM_BYTES).await
}

/// Like [`read_form`], for a form of at most `max_bytes`.
pub(super) async fn read_form_of(
    auth: &PageAuth,
    request: Request,
    max_bytes: usize,
) -> Result<(Parts, HashMap<String, String>), Response> {
    let (head, body) = request.into_parts();
    if let Some(refusal) = auth.unknown_host_refusal(&head) {
        return Err(refusal);
    }
    read_fields(body, max_bytes).await.map(|fields| (head, fields))
}

/// Reads the fields of a form of at most `max_bytes`.
pub(super) async fn read_fields(body: Body, max_bytes: usize) -> Result<HashMap<String, String>, Response> {
    let Ok(bytes) = axum::body::to_bytes(body, max_bytes).await else {
        let page = render_notice_page("Not accepted", "The form is too long, or the connection broke.");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, page).into_response());
    };
    Ok(url::form_urlencoded::parse(&bytes).into_owned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_returned_to() {
        for local in ["/", "/monitors/7", "/?standing=error&q=a%20b", "/results/00a/captures/x%2Epng"] {
            assert_eq!(local_path(local), local);
        }
        for foreign in [
            "",
            "//evil.example/",
            "/\\evil.example",
            "https://evil.example/",
            "evil",
            "/a b",
            "/a\nb",
            "/\u{e9}",
            "/sign-in",
            "/sign-out",
            &format!("/{}", "x".repeat(MAX_NEXT_BYTES)),
        ] {
            assert_eq!(local_path(foreign), "/", "{foreign}");
        }
    }
}
