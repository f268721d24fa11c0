//! The form to sign in.

use aws_lc_rs::rand;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::cookies::{Cookie, CookieScope};
use super::csrf::{FORM_TOKEN_FIELD, form_token};
use super::forms::with_cookie;
use super::html::escape;
use super::page_frame::{PageFrame, render_page};
use super::preferences::Preferences;

/// Name of the field with what was typed into another form, sealed.
pub(super) const KEPT_FIELD: &str = "kept";
/// How the host signs in.
const LINK_HINT: &str = "On the server's host, {command} prints a link that signs in without a password.";

/// Returns the secret of this browser that tokens of the form to sign in belong to; a new one if it has none.
pub(super) fn browser_secret(head: &Parts) -> String {
    CookieScope::of(head).read(Cookie::Form, &head.headers).unwrap_or_else(random_form_secret)
}

/// The form to sign in.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignInForm<'a> {
    /// Path of the page that it leads to.
    pub(super) next: &'a str,
    /// What it says; empty for nothing.
    pub(super) message: &'a str,
    /// What was typed into another form, sealed; empty for nothing.
    pub(super) kept: &'a str,
    /// The secret of the browser.
    pub(super) secret: &'a str,
}

/// Renders the form, and sets the cookie that its token belongs to.
pub(super) fn render_sign_in_form(head: &Parts, status: StatusCode, form: &SignInForm<'_>) -> Response {
    let preferences = Preferences::from_head(head);
    let t = preferences.locale();
    let message = if form.message.is_empty() { String::new() } else { notice(t.text(form.message)) };
    let kept = if form.kept.is_empty() {
        String::new()
    } else {
        format!(r#"<input type="hidden" name="{KEPT_FIELD}" value="{}">"#, escape(form.kept))
    };
    // Of use after signing in in another window.
    let go_on = if form.kept.is_empty() {
        String::new()
    } else {
        let text = t.text("I have signed in in another window");
        format!(" <button formnovalidate>{text}</button>")
    };
    let body = format!(
        r#"<h1>{sign_in}</h1>{message}<form class="sign-in" action="/sign-in" method="post"><input type="hidden" name="{FORM_TOKEN_FIELD}" value="{}"><input type="hidden" name="next" value="{}">{kept}<label>{} <input name="login" autocomplete="username" required autofocus></label><label>{} <input type="password" name="password" autocomplete="current-password" required></label><button>{sign_in}</button>{go_on}</form><p class="hint">{}</p>"#,
        form_token(form.secret),
        escape(form.next),
        t.text("Login"),
        t.text("Password"),
        t.text(LINK_HINT).replace("{command}", "<code>vigie open</code>"),
        sign_in = t.text("Sign in"),
    );
    let title = format!("{} · Vigie", t.text("Sign in"));
    let frame = PageFrame::without_viewer(&title, preferences);
    let cookie = CookieScope::of(head).header_to_set(Cookie::Form, form.secret);
    with_cookie((status, render_page(frame, &body)).into_response(), cookie)
}

/// Renders a message above a form.
pub(super) fn notice(message: &str) -> String {
    format!(r#"<p class="notice">{}</p>"#, escape(message))
}

/// Returns a new secret for the cookie of the sign-in form.
fn random_form_secret() -> String {
    let mut bytes = [0; 32];
    // When the system has no random bytes, aws-lc aborts the process.
    while rand::fill(&mut bytes).is_err() {}
    URL_SAFE_NO_PAD.encode(bytes)
}
