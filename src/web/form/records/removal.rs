//! Removing a record: a question first.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};

use super::record_form::RecordForm;
use super::record_page::{load, read};
use super::record_scope::{RecordPath, RecordScope};
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

/// `GET /account/{kind}/{id}/remove`, and below a monitor: asks.
pub(in crate::web) async fn get_removal(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path(path): Path<RecordPath>,
) -> Response {
    let scope = match RecordScope::find_listed(&state, &viewer, &path) {
        Ok(scope) => scope,
        Err(refusal) => return refusal.into_response(),
    };
    let record = match load(&state, scope, &path.id).await {
        Ok(record) => record,
        Err(response) => return response,
    };
    let (scope, t) = (&record.scope, viewer.locale());
    let (pages, list_path) = (scope.pages, scope.list_path());
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
    scope.render_page(&viewer, &t.fill("Remove {name}", &[("name", t.text(pages.noun))]), &body)
}

/// Returns what people call the record; empty without.
fn name(record: &RecordForm) -> &str {
    let text = |name: &&str| record.stored.get(*name).and_then(serde_json::Value::as_str);
    ["name", "login"].iter().find_map(text).unwrap_or_default()
}

/// `POST /account/{kind}/{id}/remove`, and below a monitor: removes the record that the person saw.
pub(in crate::web) async fn post_removal(
    State(state): State<AccountState>,
    Path(path): Path<RecordPath>,
    request: Request,
) -> Response {
    let (form, scope) = match read(&state, RecordScope::find_listed, &path, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let revision = form.fields.get("revision").and_then(|text| text.parse().ok()).map(Revision);
    let (Some(revision), Ok(id)) = (revision, path.id.parse()) else {
        return refused(&ServiceError::PreconditionFailed);
    };
    match scope.delete(&state.config_record_service, id, revision).await {
        Ok(()) => see_other(&scope.list_path(), None),
        Err(error) => refused(&error),
    }
}
