//! The password with which a person signs in, of whatever role.

use askama::Template;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::record_scope::{NoPage, account_breadcrumb, render_record_page};
use super::state::AccountState;
use crate::domain::{ConfigRecordKind, UserId};
use crate::service::{Caller, ServiceError};
use crate::syntax::node::Node;
use crate::texts::{Locale, key};
use crate::web::actions::{MAX_BUTTON_FORM_BYTES, read_form_of_anybody, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::page_frame::Section;
use crate::web::viewer::Viewer;

#[derive(Template)]
#[template(path = "password.html", config = "src/web/askama.toml")]
struct PasswordPage<'a> {
    login: &'a str,
    /// Whether the password has been changed.
    is_done: bool,
    errors: &'a [String],
    form_token: &'a str,
    t: Locale,
}

/// `GET /account/password`
pub(in crate::web) async fn get_password_form(Extension(viewer): Extension<Viewer>) -> Response {
    match user(&viewer) {
        Ok(caller) => render(&viewer, &caller, StatusCode::OK, false, &[]),
        Err(refusal) => refusal.into_response(),
    }
}

/// `POST /account/password`
pub(in crate::web) async fn post_password_form(
    State(state): State<AccountState>,
    request: Request,
) -> Response {
    let form = match read_form_of_anybody(&state.actions.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let viewer = &form.viewer;
    let caller = match user(viewer) {
        Ok(caller) => caller,
        Err(refusal) => return refusal.into_response(),
    };
    let field = |name: &str| form.fields.get(name).map(String::as_str).unwrap_or_default();
    if field("password") != field("password_again") {
        let message = viewer.locale().text(key("The new passwords differ.")).to_owned();
        return render(viewer, &caller, StatusCode::UNPROCESSABLE_ENTITY, false, &[message]);
    }
    let body =
        Node::from(json!({"password": field("password"), "current_password": field("current_password")}));
    let id = caller.user_id.0;
    match state.config_record_service.patch(&caller, ConfigRecordKind::User, id, &body, None).await {
        Ok(_) => render(viewer, &caller, StatusCode::OK, true, &[]),
        Err(ServiceError::Invalid(errors)) => {
            let errors: Vec<String> = errors.into_iter().map(|error| error.message).collect();
            render(viewer, &caller, StatusCode::UNPROCESSABLE_ENTITY, false, &errors)
        }
        Err(error) => refused(&error),
    }
}

/// Returns the user who signed in; the host has no password.
pub(super) fn user(viewer: &Viewer) -> Result<Caller, NoPage> {
    let caller = viewer.caller.clone().ok_or(NoPage::NotSignedIn)?;
    let has_password = caller.user_id != UserId::HOST && viewer.form_token().is_some();
    has_password.then_some(caller).ok_or(NoPage::NoSuchKind)
}

fn render(
    viewer: &Viewer,
    caller: &Caller,
    status: StatusCode,
    is_done: bool,
    errors: &[String],
) -> Response {
    let (form_token, t) = (viewer.form_token().unwrap_or_default(), viewer.locale());
    let page = PasswordPage { login: &caller.login, is_done, errors, form_token, t };
    // Writing into a string cannot fail.
    let body = page.render().unwrap_or_default();
    let above = vec![account_breadcrumb(t)];
    let page = render_record_page(viewer, t.text("Your password"), Section::Account, above, &body);
    (status, page).into_response()
}
