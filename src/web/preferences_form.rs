//! The page on which a person chooses how the pages look, and the forms in the foot that do so.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use url::{Position, Url};

use super::cookies::{Cookie, CookieScope};
use super::csrf::RequestOrigin;
use super::forms::{
    foreign_form_response, is_local_path, local_path, origin_from_head, read_form, see_other,
};
use super::location_switch::LocationSwitch;
use super::page_auth::{PageAuth, login_check_unavailable};
use super::page_frame::{PageFrame, render_page};
use super::preferences::Preferences;
use crate::domain::{ConfigRecord, CustomerId, UserId};
use crate::service::ListQuery;
use crate::texts::{Language, Locale, Zone};

/// Path of the page.
const PATH: &str = "/preferences";

#[derive(Template)]
#[template(path = "preferences.html", config = "src/web/askama.toml")]
struct PreferencesPage {
    preferences: Preferences,
    /// Ids and names of the accounts; empty where there is no choice.
    accounts: Vec<(CustomerId, String)>,
    location_switch: LocationSwitch,
    next: String,
    t: Locale,
}

/// `GET /preferences`: language and time zone; needs no login, as the look of the page to sign in counts too.
pub(super) async fn get_preferences(State(auth): State<PageAuth>, head: Parts) -> Response {
    if let Some(refusal) = auth.unknown_host_refusal(&head) {
        return refusal;
    }
    let viewer = auth.admit(&head).await.ok();
    let preferences =
        viewer.as_ref().map_or_else(|| Preferences::from_head(&head), |viewer| viewer.preferences);
    let caller = viewer.as_ref().and_then(|viewer| viewer.caller.as_ref());
    let accounts = match caller {
        Some(caller) if caller.user_id == UserId::HOST => {
            match auth.account_service.customers(caller).await {
                Ok(accounts) if accounts.len() > 1 => accounts.iter().map(to_choice).collect(),
                Ok(_) => Vec::new(),
                Err(error) => return login_check_unavailable(&error),
            }
        }
        _ => Vec::new(),
    };
    let t = preferences.locale();
    let next = match referring_path(&head) {
        path if path.starts_with(PATH) => "/".to_owned(),
        path => local_path(&path),
    };
    let location_switch = viewer.as_ref().map(|viewer| viewer.location_switch.clone()).unwrap_or_default();
    // Writing into a string cannot fail.
    let body =
        PreferencesPage { preferences, accounts, location_switch, next, t }.render().unwrap_or_default();
    let title = format!("{} · Vigie", t.text("Preferences"));
    let frame = viewer.as_ref().map_or_else(
        || PageFrame::without_viewer(&title, preferences),
        |viewer| PageFrame::new(&title, viewer),
    );
    render_page(frame, &body).into_response()
}

fn to_choice(account: &ConfigRecord) -> (CustomerId, String) {
    let name = account.fields.get("name").and_then(Value::as_str).unwrap_or_default();
    (CustomerId(account.id), name.to_owned())
}

/// `POST /preferences`: sets those that the form names, and returns to the page `next` of the form, or else to the page
/// with the form.
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
    let mut next = form.get("next").cloned().unwrap_or_else(|| referring_path(&head));
    // A list that shows the location before would not change.
    if preferences.location != Preferences::from_head(&head).location
        && let Some(query) = next.strip_prefix("/?")
    {
        let query = ListQuery::parse(query);
        next = ListQuery { location: None, at_all_locations: false, page_number: 1, ..query }.to_path();
    }
    let cookie = CookieScope::of(&head).header_to_set(Cookie::Preferences, &preferences.to_cookie_value());
    see_other(if is_local_path(&next) { &next } else { "/" }, cookie)
}

/// Returns the path and the query of the page that led here; empty without one. Only the path counts: it leads to this
/// server, whatever host the header names.
fn referring_path(head: &Parts) -> String {
    let referrer =
        head.headers.get(header::REFERER).and_then(|referrer| Url::parse(referrer.to_str().ok()?).ok());
    referrer.map_or_else(String::new, |url| url[Position::BeforePath..Position::AfterQuery].to_owned())
}
