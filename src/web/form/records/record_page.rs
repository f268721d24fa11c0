//! The pages with the form of a record.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::record_form::{CHOICES_OF, DATES_IN, RecordForm};
use super::record_scope::{FindScope, RecordPath, RecordScope};
use super::state::AccountState;
use crate::service::{SavedObject, ServiceError};
use crate::texts::{Zone, key};
use crate::web::actions::{OwnForm, refused};
use crate::web::form::form_action::{FormAction, GOES_ON};
use crate::web::form::kept_form::read_kept_form;
use crate::web::form::labels::label;
use crate::web::form::monitor_form::general_error;
use crate::web::form::saved_page::SavedPage;
use crate::web::form::submission::Submission;
use crate::web::forms::see_other;
use crate::web::responses::not_found;
use crate::web::viewer::Viewer;

/// `GET /account/{kind}/new`, and below a monitor
pub(in crate::web) async fn get_new_form(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path(path): Path<RecordPath>,
) -> Response {
    match RecordScope::find_listed(&state, &viewer, &path) {
        Ok(scope) if scope.may_edit(&state, &viewer) => {
            RecordForm::new(scope).render(&state, &viewer, StatusCode::OK).await
        }
        Ok(_) => {
            let message = key("Your role does not permit changing this");
            refused(&ServiceError::Forbidden(message.to_owned()))
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// `GET /account/{kind}/{id}`, and below a monitor
pub(in crate::web) async fn get_edit_form(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path(path): Path<RecordPath>,
) -> Response {
    match RecordScope::find(&state, &viewer, &path) {
        Ok(scope) if scope.pages.is_changeable => edit_form(&state, &viewer, scope, &path.id).await,
        Ok(_) => not_found("This page does not exist"),
        Err(refusal) => refusal.into_response(),
    }
}

/// Makes the page with the form of the record `id`.
pub(super) async fn edit_form(
    state: &AccountState,
    viewer: &Viewer,
    scope: RecordScope,
    id: &str,
) -> Response {
    match load(state, scope, id).await {
        Ok(form) => form.render(state, viewer, StatusCode::OK).await,
        Err(response) => response,
    }
}

/// `POST /account/{kind}/new`, and below a monitor
pub(in crate::web) async fn post_new_form(
    State(state): State<AccountState>,
    Path(path): Path<RecordPath>,
    request: Request,
) -> Response {
    match read(&state, RecordScope::find_listed, &path, request).await {
        Ok((form, scope)) => respond(&state, RecordForm::new(scope), form).await,
        Err(response) => response,
    }
}

/// `POST /account/{kind}/{id}`, and below a monitor
pub(in crate::web) async fn post_edit_form(
    State(state): State<AccountState>,
    Path(path): Path<RecordPath>,
    request: Request,
) -> Response {
    let (form, scope) = match read(&state, RecordScope::find, &path, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    match load(&state, scope, &path.id).await {
        Ok(record) => respond(&state, record, form).await,
        Err(response) => response,
    }
}

/// Reads the form of a record at `path`, of a kind that `find` knows.
pub(super) async fn read(
    state: &AccountState,
    find: FindScope,
    path: &RecordPath,
    request: Request,
) -> Result<(OwnForm, RecordScope), Response> {
    let form = read_kept_form(&state.actions.auth, request).await?;
    let scope = find(state, &form.viewer, path).map_err(IntoResponse::into_response)?;
    Ok((form, scope))
}

/// Loads the form of the record `id`.
pub(super) async fn load(state: &AccountState, scope: RecordScope, id: &str) -> Result<RecordForm, Response> {
    let missing = || not_found("It does not exist");
    let id = id.parse().map_err(|_| missing())?;
    if scope.pages.is_single() && id != scope.caller.customer.0 {
        return Err(missing());
    }
    match scope.get(&state.config_record_service, id).await {
        Ok((record, revision)) => Ok(RecordForm::existing(scope, id, record, revision)),
        Err(ServiceError::NotFound) => Err(missing()),
        Err(error) => Err(refused(&error)),
    }
}

/// Does what the button of `form` says.
async fn respond(state: &AccountState, mut record: RecordForm, form: OwnForm) -> Response {
    let fields = record.scope.pages.fields();
    let submission = Submission::read(&state.actions.monitor_service, &record.scope.caller, &fields, form);
    let Submission { viewer, mut texts, action, revision, .. } = match submission {
        Ok(submission) => submission,
        Err(error) => return refused(&error),
    };
    let current = std::mem::replace(&mut record.revision, revision);
    let choices_of = texts.remove(CHOICES_OF).unwrap_or_default();
    // They are in the zone that the form named, even if the person has chosen another one since.
    if let Some(zone) = texts.remove(DATES_IN).and_then(|name| Zone::from_name(&name)) {
        record.scope.zones.dates = zone;
    }
    record.texts = texts;
    let mut status = StatusCode::OK;
    // What was chosen by name belongs to another kind of thing now.
    let is_about_other = |kind: &str| (kind == "Notifier") != (choices_of == "Notifier");
    if record.texts.get("type").is_some_and(|kind| is_about_other(kind)) {
        record.texts.remove("assoc_id");
        return record.render(state, &viewer, status).await;
    }
    match action {
        FormAction::Edit(edit) => record.focus = edit.apply(&fields, &mut record.texts),
        FormAction::Save => match record.save(state).await {
            Ok(saved) => return respond_saved(&viewer, &record.scope, record.id, &saved),
            Err(ServiceError::Invalid(errors)) => {
                (record.errors, status) = (errors, StatusCode::UNPROCESSABLE_ENTITY);
            }
            Err(ServiceError::PreconditionFailed) => {
                record.errors = vec![record.conflict_error(viewer.locale())];
                (record.revision, status) = (current, StatusCode::PRECONDITION_FAILED);
            }
            Err(ServiceError::Conflict(message)) => {
                (record.errors, status) = (vec![general_error(&message)], StatusCode::CONFLICT);
            }
            Err(ServiceError::Forbidden(message)) => {
                (record.errors, status) = (vec![general_error(&message)], StatusCode::FORBIDDEN);
            }
            Err(error) => return refused(&error),
        },
        FormAction::GoOn => record.errors = vec![general_error(GOES_ON)],
        FormAction::Check(_) | FormAction::Show(_) | FormAction::ShowForm => {}
    }
    record.render(state, &viewer, status).await
}

/// Leads to the list, or shows what only this response has, and warnings.
fn respond_saved(viewer: &Viewer, scope: &RecordScope, id: Option<i64>, saved: &SavedObject) -> Response {
    let t = viewer.locale();
    let to_text = |(name, value): (&String, &Value)| {
        (t.text(&label(name)).to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let values: Vec<_> = saved.create_response_fields.iter().map(to_text).collect();
    let next = if scope.pages.is_single() { "/account".to_owned() } else { scope.list_path() };
    if values.is_empty() && saved.warnings.is_empty() {
        return see_other(&next, None);
    }
    let text = if id.is_some() { key("The {noun} was saved") } else { key("The {noun} was created") };
    let page = SavedPage {
        heading: t.fill(text, &[("noun", t.text(scope.pages.noun))]),
        values,
        warnings: &saved.warnings,
        next: (next, t.text("Back to the list")),
        edit_path: None,
        t,
    };
    // Writing into a string cannot fail.
    scope.render_page(viewer, t.text("Saved"), &page.render().unwrap_or_default())
}
