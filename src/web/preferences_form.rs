//! Setting how the pages look.

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;
use url::{Position, Url};

use super::cookies::{Cookie, CookieScope};
use super::csrf::RequestOrigin;
use super::forms::{foreign_form_response, is_local_path, origin_from_head, read_form, see_other};
use super::page_auth::PageAuth;
use super::preferences::Preferences;

/// `POST /preferences`: sets those that the form names, and returns to the page with the form.
pub(super) async fn post_preferences(State(auth): State<PageAuth>, request: Request) -> Response {
    let (head, form) = match read_form(&auth, request).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    // It changes nothing but the look of this browser: the origin suffices.
    if origin_from_head(&head) == RequestOrigin::Foreign {
        return foreign_form_response();
    }
    let mut preferences = Preferences::from_head(&head);
    for (name, value) in &form {
        preferences.set(name, value);
    }
    let referrer =
        head.headers.get(header::REFERER).and_then(|referrer| Url::parse(referrer.to_str().ok()?).ok());
    // Only the path counts: it leads to this server, whatever host the header names.
    let next =
        referrer.map_or_else(String::new, |url| url[Position::BeforePath..Position::AfterQuery].to_owned());
    let cookie = CookieScope::of(&head).header_to_set(Cookie::Preferences, &preferences.to_cookie_value());
    see_other(if is_local_path(&next) { &next } else { "/" }, cookie)
}
