//! Sign-in with a password or a one-time link, and sign-out. The forms work without scripts.

use std::collections::HashMap;

use aws_lc_rs::rand;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::cookies::Cookie;
use super::csrf::{
    FORM_TOKEN_FIELD, RequestOrigin, form_token, is_form_token, request_authority, request_origin,
};
use super::html::{escape, render_document_without_referrer, render_form_document, render_notice_page};
use super::page_auth::{PageAuth, cookie_scope, login_check_unavailable};
use crate::service::{ClientConnection, ServiceError};

/// Largest body of a form, in bytes.
const MAX_FORM_BYTES: usize = 16 * 1024;
/// Longest path to return to after signing in, in bytes.
const MAX_NEXT_BYTES: usize = 2_000;

/// `GET /sign-in?next=`: the form, or a redirect if the caller is signed in.
pub(super) async fn get_sign_in(State(auth): State<PageAuth>, head: Parts) -> Response {
    if let Some(refusal) = auth.unknown_host_refusal(&head) {
        return refusal;
    }
    let next = local_path(&query_value(&head.uri, "next"));
    match auth.session_caller(&head).await {
        Ok(Some(_)) => see_other(&next, None),
        Ok(None) => sign_in_form(&head, StatusCode::OK, &next, ""),
        Err(error) => login_check_unavailable(&error),
    }
}

/// `POST /sign-in`: checks login and password, sets the session cookie and returns to `next`.
pub(super) async fn post_sign_in(State(auth): State<PageAuth>, request: Request) -> Response {
    let (head, form) = match read_form(&auth, request).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let next = local_path(field("next"));
    let secret = cookie_scope(&head).read(Cookie::Form, &head.headers);
    if !is_own_form(&head, secret.as_deref(), field(FORM_TOKEN_FIELD)) {
        let message = "The form was too old or came from another site. Sign in here.";
        return sign_in_form(&head, StatusCode::FORBIDDEN, &next, message);
    }
    let address = ClientConnection::from_extensions(&head.extensions).address;
    match auth.account_service.sign_in(field("login"), field("password"), address).await {
        Ok(session) => see_other(&next, cookie_scope(&head).header_to_set(Cookie::Session, &session)),
        Err(ServiceError::InvalidCredentials | ServiceError::UserLocked) => {
            let message = "The login or the password is wrong, or the user may not log in.";
            sign_in_form(&head, StatusCode::BAD_REQUEST, &next, message)
        }
        Err(ServiceError::RateLimited(seconds)) => {
            let message = format!("Too many failed logins; try again in {seconds} s.");
            let mut response = sign_in_form(&head, StatusCode::TOO_MANY_REQUESTS, &next, &message);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            response
        }
        Err(error) => login_check_unavailable(&error),
    }
}

/// `GET /sign-in/link?token=`: a button that uses the link. Opening the page uses nothing, so that previews of links
/// and prefetching browsers do not consume it.
pub(super) async fn get_sign_in_link(State(auth): State<PageAuth>, head: Parts) -> Response {
    if let Some(refusal) = auth.unknown_host_refusal(&head) {
        return refusal;
    }
    let body = format!(
        r#"<h1>Sign in</h1><form class="sign-in" action="/sign-in/link" method="post"><p>The link signs in this browser as the host, once.</p><input type="hidden" name="token" value="{}"><button>Sign in</button></form>"#,
        escape(&query_value(&head.uri, "token"))
    );
    render_document_without_referrer("Sign in · Vigie", &body).into_response()
}

/// `POST /sign-in/link`: consumes the token of the link and sets the session cookie. The token is what another site
/// cannot know; browsers send no origin from the page of the link.
pub(super) async fn post_sign_in_link(State(auth): State<PageAuth>, request: Request) -> Response {
    let (head, form) = match read_form(&auth, request).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    if origin_from_head(&head) == RequestOrigin::Foreign {
        return foreign_form_response();
    }
    let address = ClientConnection::from_extensions(&head.extensions).address;
    let token = form.get("token").map(String::as_str).unwrap_or_default();
    match auth.account_service.use_sign_in_link(token, address).await {
        Ok(session) => see_other("/", cookie_scope(&head).header_to_set(Cookie::Session, &session)),
        Err(ServiceError::Unauthenticated(message)) => {
            (StatusCode::FORBIDDEN, render_document_without_referrer("Sign in · Vigie", &notice(&message)))
                .into_response()
        }
        Err(error) => login_check_unavailable(&error),
    }
}

/// `POST /sign-out`: ends the session.
pub(super) async fn post_sign_out(State(auth): State<PageAuth>, request: Request) -> Response {
    let (head, form) = match read_form(&auth, request).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    let scope = cookie_scope(&head);
    let session = scope.read(Cookie::Session, &head.headers);
    let sent_token = form.get(FORM_TOKEN_FIELD).map(String::as_str).unwrap_or_default();
    if !is_own_form(&head, session.as_deref(), sent_token) {
        return foreign_form_response();
    }
    let address = ClientConnection::from_extensions(&head.extensions).address;
    match auth.account_service.sign_out(session.as_deref().unwrap_or_default(), address).await {
        Ok(()) => see_other("/sign-in", scope.header_to_remove(Cookie::Session)),
        Err(error) => login_check_unavailable(&error),
    }
}

/// Whether the request comes from a form of this server and carries the token that belongs to `cookie_value`.
fn is_own_form(head: &Parts, cookie_value: Option<&str>, sent_token: &str) -> bool {
    origin_from_head(head) == RequestOrigin::SameOrigin
        && cookie_value.is_some_and(|cookie_value| is_form_token(cookie_value, sent_token))
}

fn origin_from_head(head: &Parts) -> RequestOrigin {
    let authority = request_authority(&head.uri, &head.headers).unwrap_or_default();
    let is_tls = ClientConnection::from_extensions(&head.extensions).is_tls;
    request_origin(&head.headers, &authority, is_tls)
}

fn foreign_form_response() -> Response {
    let message = "The form came from another site, or its session has ended. Nothing was changed.";
    (StatusCode::FORBIDDEN, render_notice_page("Not accepted", message)).into_response()
}

/// Renders the form with `message`, and sets the cookie that its token belongs to.
fn sign_in_form(head: &Parts, status: StatusCode, next: &str, message: &str) -> Response {
    let scope = cookie_scope(head);
    let secret = scope.read(Cookie::Form, &head.headers).unwrap_or_else(random_form_secret);
    let message = if message.is_empty() { String::new() } else { notice(message) };
    let body = format!(
        r#"<h1>Sign in</h1>{message}<form class="sign-in" action="/sign-in" method="post"><input type="hidden" name="{FORM_TOKEN_FIELD}" value="{}"><input type="hidden" name="next" value="{}"><label>Login <input name="login" autocomplete="username" required autofocus></label><label>Password <input type="password" name="password" autocomplete="current-password" required></label><button>Sign in</button></form><p class="hint">On the server's host, <code>vigie open</code> prints a link that signs in without a password.</p>"#,
        form_token(&secret),
        escape(next)
    );
    let mut response = (status, render_form_document("Sign in · Vigie", &body)).into_response();
    if let Some(cookie) = scope.header_to_set(Cookie::Form, &secret) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

fn notice(message: &str) -> String {
    format!(r#"<p class="notice">{}</p>"#, escape(message))
}

/// Returns a new secret for the cookie of the sign-in form.
fn random_form_secret() -> String {
    let mut bytes = [0; 32];
    // When the system has no random bytes, aws-lc aborts the process.
    while rand::fill(&mut bytes).is_err() {}
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Redirects to `location`, a path of this server, and sets `cookie`.
fn see_other(location: &str, cookie: Option<HeaderValue>) -> Response {
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, location.to_owned())]).into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    response
}

/// Returns `next` if it is a path of this server, otherwise `/`: a link to the sign-in page must not lead to another
/// site.
fn local_path(next: &str) -> String {
    let is_local = next.starts_with('/')
        && !next.starts_with("//")
        && !next.starts_with("/sign-")
        && next.len() <= MAX_NEXT_BYTES
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_local { next.to_owned() } else { "/".to_owned() }
}

fn query_value(uri: &Uri, name: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Reads the fields of a form, unless the request has an unknown host name.
async fn read_form(auth: &PageAuth, request: Request) -> Result<(Parts, HashMap<String, String>), Response> {
    let (head, body) = request.into_parts();
    if let Some(refusal) = auth.unknown_host_refusal(&head) {
        return Err(refusal);
    }
    let Ok(bytes) = axum::body::to_bytes(body, MAX_FORM_BYTES).await else {
        let page = render_notice_page("Not accepted", "The form is too long, or the connection broke.");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, page).into_response());
    };
    Ok((head, url::form_urlencoded::parse(&bytes).into_owned().collect()))
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
