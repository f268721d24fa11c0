//! Sign-in with a password or a one-time link, and sign-out. The forms work without scripts.

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};

use super::cookies::{Cookie, CookieScope};
use super::csrf::{FORM_TOKEN_FIELD, RequestOrigin};
use super::form::continue_page;
use super::forms::{
    foreign_form_response, is_own_form, local_path, origin_from_head, read_form, read_form_of, see_other,
    with_cookie,
};
use super::html::escape;
use super::page_auth::{PageAuth, login_check_unavailable};
use super::page_frame::{PageFrame, Referrer, render_page};
use super::preferences::Preferences;
use super::sign_in_form::{KEPT_FIELD, SignInForm, browser_secret, notice, render_sign_in_form};
use crate::service::{ClientConnection, ServiceError};

/// Largest body of the form, in bytes: what was typed into another one may be in it.
const MAX_FORM_BYTES: usize = 256 * 1024;

/// `GET /sign-in?next=`: the form, or a redirect if the caller is signed in.
pub(super) async fn get_sign_in(State(auth): State<PageAuth>, head: Parts) -> Response {
    if let Some(refusal) = auth.unknown_host_refusal(&head) {
        return refusal;
    }
    let next = local_path(&query_value(&head.uri, "next"));
    match auth.session_caller(&head).await {
        Ok(Some(_)) => see_other(&next, None),
        Ok(None) => sign_in_form(&head, StatusCode::OK, &next, "", ""),
        Err(error) => login_check_unavailable(&error),
    }
}

/// `POST /sign-in`: checks login and password, sets the session cookie and returns to `next`.
pub(super) async fn post_sign_in(State(auth): State<PageAuth>, request: Request) -> Response {
    let (head, form) = match read_form_of(&auth, request, MAX_FORM_BYTES).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let (next, kept) = (local_path(field("next")), field(KEPT_FIELD));
    let secret = CookieScope::of(&head).read(Cookie::Form, &head.headers);
    if !is_own_form(&head, secret.as_deref(), field(FORM_TOKEN_FIELD)) {
        let message = "The form was too old or came from another site. Sign in here.";
        return sign_in_form(&head, StatusCode::FORBIDDEN, &next, message, kept);
    }
    // Somebody who has meanwhile signed in, in another window, needs no password.
    if let Ok(Some((_, session))) = auth.session_caller(&head).await
        && let Some(page) = continue_page(&auth, &head, &session, &form)
    {
        return page;
    }
    let address = ClientConnection::from_extensions(&head.extensions).address;
    match auth.account_service.sign_in(field("login"), field("password"), address).await {
        Ok(session) => {
            let cookie = CookieScope::of(&head).header_to_set(Cookie::Session, &session);
            match continue_page(&auth, &head, &session, &form) {
                Some(page) => with_cookie(page, cookie),
                None => see_other(&next, cookie),
            }
        }
        Err(ServiceError::InvalidCredentials | ServiceError::UserLocked) => {
            let message = "The login or the password is wrong, or the user may not log in.";
            sign_in_form(&head, StatusCode::BAD_REQUEST, &next, message, kept)
        }
        Err(ServiceError::RateLimited(seconds)) => {
            let t = Preferences::from_head(&head).locale();
            let seconds_text = seconds.to_string();
            let message =
                t.fill("Too many failed logins; try again in {seconds} s.", &[("seconds", &seconds_text)]);
            let mut response = sign_in_form(&head, StatusCode::TOO_MANY_REQUESTS, &next, &message, kept);
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
    let t = Preferences::from_head(&head).locale();
    let body = format!(
        r#"<h1>{sign_in}</h1><form class="sign-in" action="/sign-in/link" method="post"><p>{}</p><input type="hidden" name="token" value="{}"><button>{sign_in}</button></form>"#,
        t.text("The link signs in this browser as the host, once."),
        escape(&query_value(&head.uri, "token")),
        sign_in = t.text("Sign in"),
    );
    render_link_page(&head, &body).into_response()
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
        Ok(session) => see_other("/", CookieScope::of(&head).header_to_set(Cookie::Session, &session)),
        Err(ServiceError::Unauthenticated(message)) => {
            (StatusCode::FORBIDDEN, render_link_page(&head, &notice(&message))).into_response()
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
    let scope = CookieScope::of(&head);
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

fn sign_in_form(head: &Parts, status: StatusCode, next: &str, message: &str, kept: &str) -> Response {
    let secret = browser_secret(head);
    render_sign_in_form(head, status, &SignInForm { next, message, kept, secret: &secret })
}

/// Renders a page whose address holds the token of a link.
fn render_link_page(head: &Parts, body: &str) -> Html<String> {
    let preferences = Preferences::from_head(head);
    let title = format!("{} · Vigie", preferences.locale().text("Sign in"));
    let frame = PageFrame::without_viewer(&title, preferences);
    render_page(PageFrame { referrer: Referrer::Never, ..frame }, body)
}

fn query_value(uri: &Uri, name: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}
