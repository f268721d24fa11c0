//! Forms that are sent after the session has ended: what was typed is kept while the person signs in again.
//!
//! 1. The form is sent without a session. The response asks to sign in, and has what was typed, sealed for this browser.
//! 2. Signing in takes it along, and leads to a page with one button.
//! 3. The button sends it to where the form was sent first, which shows the form as it was; nothing is saved yet.

use std::collections::HashMap;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use zeroize::Zeroizing;

use super::form_action::GO_ON;
use super::input_names::ACTION_NAME;
use crate::texts::key;
use crate::web::actions::{FormSession, MAX_MONITOR_FORM_BYTES, OwnForm, read_form_of_person};
use crate::web::cookies::{Cookie, CookieScope};
use crate::web::csrf::{FORM_TOKEN_FIELD, RequestOrigin, form_token};
use crate::web::forms::{foreign_form_response, is_local_path, origin_from_head};
use crate::web::html::escape;
use crate::web::page_auth::PageAuth;
use crate::web::page_frame::{PageFrame, render_page};
use crate::web::preferences::Preferences;
use crate::web::sign_in_form::{KEPT_FIELD, SignInForm, browser_secret, render_sign_in_form};

/// Longest body of a form that is kept, in bytes. Nobody is signed in who could be held to a quota.
const MAX_KEPT_BYTES: usize = 128 * 1024;

/// Reads the form of a monitor or a record. Without a session, asks to sign in, and keeps what was typed. A form of an
/// earlier session is shown again.
pub(in crate::web) async fn read_kept_form(auth: &PageAuth, request: Request) -> Result<OwnForm, Response> {
    let (head, body) = request.into_parts();
    let is_signed_in = match auth.session_caller(&head).await {
        Ok(caller) => caller.is_some(),
        // Whoever cannot be checked is told so where all are.
        Err(_) => true,
    };
    if !is_signed_in && is_sent_by_own_page(&head) && auth.unknown_host_refusal(&head).is_none() {
        return Err(ask_to_sign_in(auth, &head, body).await);
    }
    let scope = CookieScope::of(&head);
    let browser = scope.read(Cookie::Form, &head.headers);
    let request = Request::from_parts(head, body);
    let (mut form, session) = read_form_of_person(auth, request, MAX_MONITOR_FORM_BYTES).await?;
    let sealed = form.fields.remove(KEPT_FIELD);
    let kept = sealed.zip(browser).and_then(|(sealed, browser)| open(auth, &browser, &sealed));
    let is_looked_at_again = kept.is_some() || session == FormSession::Earlier;
    if let Some(kept) = kept {
        form.fields = kept;
    } else if session == FormSession::Foreign {
        return Err(foreign_form_response());
    }
    if is_looked_at_again {
        form.fields.insert(ACTION_NAME.to_owned(), GO_ON.to_owned());
    }
    Ok(form)
}

/// Renders the page with which a person who has signed in with `session` goes on with what was typed; `None` without any.
pub(in crate::web) fn continue_page(
    auth: &PageAuth,
    head: &Parts,
    session: &str,
    form: &HashMap<String, String>,
) -> Option<Response> {
    let browser = CookieScope::of(head).read(Cookie::Form, &head.headers)?;
    let sealed = form.get(KEPT_FIELD).filter(|sealed| open(auth, &browser, sealed).is_some())?;
    let path = form.get("next").filter(|path| is_local_path(path))?;
    let preferences = Preferences::from_head(head);
    let t = preferences.locale();
    let title = t.text("Signed in");
    let body = format!(
        r#"<h1>{title}</h1><p>{}</p><form action="{}" method="post"><input type="hidden" name="{FORM_TOKEN_FIELD}" value="{}"><input type="hidden" name="{KEPT_FIELD}" value="{}"><p><button class="primary" autofocus>{}</button></p></form>"#,
        t.text("What you typed is still there. Look at it again, and save it then."),
        escape(path),
        form_token(session),
        escape(sealed),
        t.text("Go on with the form"),
    );
    let title = format!("{title} · Vigie");
    let frame = PageFrame { has_preferences: false, ..PageFrame::without_viewer(&title, preferences) };
    Some(render_page(frame, &body).into_response())
}

/// Whether a form of a page of this server sent the request, and no script.
fn is_sent_by_own_page(head: &Parts) -> bool {
    head.method == Method::POST
        && !head.headers.contains_key(header::AUTHORIZATION)
        && origin_from_head(head) == RequestOrigin::SameOrigin
}

async fn ask_to_sign_in(auth: &PageAuth, head: &Parts, body: Body) -> Response {
    let secret = browser_secret(head);
    let body = axum::body::to_bytes(body, MAX_KEPT_BYTES).await.ok();
    let kept = body.and_then(|body| {
        let text = Zeroizing::new(String::from_utf8(body.to_vec()).ok()?);
        Some(auth.account_service.seal_kept_form(&secret, &text))
    });
    let message = if kept.is_some() {
        key("You are signed out. Sign in again: what you typed is kept.")
    } else {
        key(
            "You are signed out, and the form is too long to be kept: sign in in another window, then go back and send it again.",
        )
    };
    let next = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let kept = kept.unwrap_or_default();
    let form = SignInForm { next, message, kept: &kept, secret: &secret };
    render_sign_in_form(head, StatusCode::UNAUTHORIZED, &form)
}

/// Opens what was sealed for this browser, and returns its fields.
fn open(auth: &PageAuth, browser: &str, sealed: &str) -> Option<HashMap<String, String>> {
    let body = auth.account_service.open_kept_form(browser, sealed)?;
    Some(url::form_urlencoded::parse(body.as_bytes()).into_owned().collect())
}
