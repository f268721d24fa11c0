//! Removing a record: a question first.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};

use super::record_form::{RecordForm, render_account_page};
use super::record_page::{find_listed, load, read};
use super::state::AccountState;
use crate::domain::Revision;
use crate::service::ServiceError;
use crate::texts::Locale;
use crate::web::actions::refused;
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::forms::see_other;
use crate::web::viewer::Viewer;

#[derive(Template)]
#[template(path = "record_removal.html", config = "src/web/askama.toml")]
struct Removal<'a> {
    noun: &'a str,
    name: &'a str,
    consequence: &'a str,
    action: String,
    list_path: String,
    revision: &'a str,
    form_token: &'a str,
    t: Locale,
}

/// `GET /account/{kind}/{id}/remove`: asks.
pub(in crate::web) async fn get_removal(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path((kind, id)): Path<(String, String)>,
) -> Response {
    let (pages, caller) = match find_listed(&viewer, &kind) {
        Ok(found) => found,
        Err(refusal) => return refusal.into_response(),
    };
    let record = match load(&state, &caller, pages, &id).await {
        Ok(record) => record,
        Err(response) => return response,
    };
    let (list_path, t) = (pages.list_path(), viewer.locale());
    let removal = Removal {
        noun: t.text(pages.noun),
        name: name(&record),
        consequence: t.text(pages.removal),
        action: format!("{list_path}/{}/remove", record.id.unwrap_or_default()),
        list_path,
        revision: &record.revision,
        form_token: viewer.form_token().unwrap_or_default(),
        t,
    };
    // Writing into a string cannot fail.
    let body = removal.render().unwrap_or_default();
    render_account_page(
        &viewer,
        &t.fill("Remove {name}", &[("name", t.text(pages.noun))]),
        Some(pages),
        &body,
    )
}

/// Returns what people call the record; empty without.
fn name(record: &RecordForm) -> &str {
    let text = |name: &&str| record.stored.get(*name).and_then(serde_json::Value::as_str);
    ["name", "login"].iter().find_map(text).unwrap_or_default()
}

/// `POST /account/{kind}/{id}/remove`: removes the record that the person saw.
pub(in crate::web) async fn post_removal(
    State(state): State<AccountState>,
    Path((kind, id)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (form, pages, caller) = match read(&state, find_listed, &kind, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let revision = form.fields.get("revision").and_then(|text| text.parse().ok()).map(Revision);
    let (Some(revision), Ok(id)) = (revision, id.parse()) else {
        return refused(&ServiceError::PreconditionFailed);
    };
    match state.config_record_service.delete(&caller, pages.kind, id, Some(revision)).await {
        Ok(()) => see_other(&pages.list_path(), None),
        Err(error) => refused(&error),
    }
}
