//! The pages with the form of a record.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::kinds::{RecordPages, find_pages};
use super::record_form::{CHOICES_OF, RecordForm, render_account_page};
use super::state::AccountState;
use crate::service::{Caller, SavedObject, ServiceError};
use crate::texts::{Locale, key};
use crate::web::actions::{OwnForm, refused};
use crate::web::form::form_action::{FormAction, GOES_ON};
use crate::web::form::kept_form::read_kept_form;
use crate::web::form::labels::label;
use crate::web::form::monitor_form::general_error;
use crate::web::form::submission::Submission;
use crate::web::forms::see_other;
use crate::web::responses::not_found;
use crate::web::viewer::Viewer;

/// What only the response to a new record has, such as the secret of a location.
#[derive(Template)]
#[template(path = "record_created.html", config = "src/web/askama.toml")]
struct Created<'a> {
    noun: &'a str,
    values: Vec<(String, String)>,
    list_path: String,
    t: Locale,
}

/// `GET /account/{kind}/new`
pub(in crate::web) async fn get_new_form(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path(kind): Path<String>,
) -> Response {
    match find_listed(&viewer, &kind) {
        Ok((pages, caller)) if state.config_record_service.may_edit(&caller, pages.kind) => {
            RecordForm::new(pages).render(&state, &viewer, &caller, StatusCode::OK).await
        }
        Ok(_) => {
            let message = key("Your role does not permit changing this");
            refused(&ServiceError::Forbidden(message.to_owned()))
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// `GET /account/{kind}/{id}`
pub(in crate::web) async fn get_edit_form(
    State(state): State<AccountState>,
    Extension(viewer): Extension<Viewer>,
    Path((kind, id)): Path<(String, String)>,
) -> Response {
    let (pages, caller) = match find(&viewer, &kind) {
        Ok(found) if found.0.is_changeable => found,
        Ok(_) => return not_found("This page does not exist"),
        Err(refusal) => return refusal.into_response(),
    };
    edit_form(&state, &viewer, &caller, pages, &id).await
}

/// Makes the page with the form of the record `id`.
pub(super) async fn edit_form(
    state: &AccountState,
    viewer: &Viewer,
    caller: &Caller,
    pages: &'static RecordPages,
    id: &str,
) -> Response {
    match load(state, caller, pages, id).await {
        Ok(form) => form.render(state, viewer, caller, StatusCode::OK).await,
        Err(response) => response,
    }
}

/// `POST /account/{kind}/new`
pub(in crate::web) async fn post_new_form(
    State(state): State<AccountState>,
    Path(kind): Path<String>,
    request: Request,
) -> Response {
    let (form, pages, caller) = match read(&state, find_listed, &kind, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    respond(&state, &caller, RecordForm::new(pages), form).await
}

/// `POST /account/{kind}/{id}`
pub(in crate::web) async fn post_edit_form(
    State(state): State<AccountState>,
    Path((kind, id)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (form, pages, caller) = match read(&state, find, &kind, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    match load(&state, &caller, pages, &id).await {
        Ok(record) => respond(&state, &caller, record, form).await,
        Err(response) => response,
    }
}

/// Why somebody does not see a page of an account.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoPage {
    /// There is no such kind of record.
    NoSuchKind,
    /// The viewer is not signed in.
    NotSignedIn,
}

impl IntoResponse for NoPage {
    fn into_response(self) -> Response {
        match self {
            Self::NoSuchKind => not_found("This page does not exist"),
            Self::NotSignedIn => {
                refused(&ServiceError::Forbidden("Sign in to see what belongs to an account".to_owned()))
            }
        }
    }
}

/// A kind of record, and who acts for the viewer.
type Found = Result<(&'static RecordPages, Caller), NoPage>;

/// Finds the kind with the name `kind`, and who acts for the viewer.
pub(super) fn find(viewer: &Viewer, kind: &str) -> Found {
    let pages = find_pages(kind).ok_or(NoPage::NoSuchKind)?;
    Ok((pages, viewer.caller.clone().ok_or(NoPage::NotSignedIn)?))
}

/// Like [`find`], for what an account can have several of.
pub(super) fn find_listed(viewer: &Viewer, kind: &str) -> Found {
    find(viewer, kind).and_then(|found| if found.0.is_single() { Err(NoPage::NoSuchKind) } else { Ok(found) })
}

/// Reads the form of a record of the kind `kind`, which `find` knows.
pub(super) async fn read(
    state: &AccountState,
    find: fn(&Viewer, &str) -> Found,
    kind: &str,
    request: Request,
) -> Result<(OwnForm, &'static RecordPages, Caller), Response> {
    let form = read_kept_form(&state.actions.auth, request).await?;
    let (pages, caller) = find(&form.viewer, kind).map_err(IntoResponse::into_response)?;
    Ok((form, pages, caller))
}

/// Loads the form of the record `id`.
pub(super) async fn load(
    state: &AccountState,
    caller: &Caller,
    pages: &'static RecordPages,
    id: &str,
) -> Result<RecordForm, Response> {
    let missing = || not_found("It does not exist");
    let id = id.parse().map_err(|_| missing())?;
    if pages.is_single() && id != caller.customer.0 {
        return Err(missing());
    }
    match state.config_record_service.get(caller, pages.kind, id).await {
        Ok((record, revision)) => Ok(RecordForm::existing(pages, id, record, revision)),
        Err(ServiceError::NotFound) => Err(missing()),
        Err(error) => Err(refused(&error)),
    }
}

/// Does what the button of `form` says.
async fn respond(state: &AccountState, caller: &Caller, mut record: RecordForm, form: OwnForm) -> Response {
    let fields = record.pages.fields();
    let submission = Submission::read(&state.actions.monitor_service, caller, &fields, form);
    let Submission { viewer, mut texts, action, revision, .. } = match submission {
        Ok(submission) => submission,
        Err(error) => return refused(&error),
    };
    let current = std::mem::replace(&mut record.revision, revision);
    let choices_of = texts.remove(CHOICES_OF).unwrap_or_default();
    record.texts = texts;
    let mut status = StatusCode::OK;
    // What was chosen by name belongs to another kind of thing now.
    let is_about_other = |kind: &str| (kind == "Notifier") != (choices_of == "Notifier");
    if record.texts.get("type").is_some_and(|kind| is_about_other(kind)) {
        record.texts.remove("assoc_id");
        return record.render(state, &viewer, caller, status).await;
    }
    match action {
        FormAction::Edit(edit) => record.focus = edit.apply(&fields, &mut record.texts),
        FormAction::Save => match record.save(state, caller).await {
            Ok(saved) => return created_or_list(&viewer, record.pages, record.id, &saved),
            Err(ServiceError::Invalid(errors)) => {
                (record.errors, status) = (errors, StatusCode::UNPROCESSABLE_ENTITY);
            }
            Err(ServiceError::PreconditionFailed) => {
                let message = viewer
                    .locale()
                    .text("Somebody else changed this since you opened the form. Save again to overwrite");
                record.errors = vec![general_error(message)];
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
    record.render(state, &viewer, caller, status).await
}

/// Leads to the list, or shows what only this response has.
fn created_or_list(
    viewer: &Viewer,
    pages: &'static RecordPages,
    id: Option<i64>,
    saved: &SavedObject,
) -> Response {
    let t = viewer.locale();
    let to_text = |(name, value): (&String, &Value)| {
        (t.text(&label(name)).to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let values: Vec<_> = saved.create_response_fields.iter().map(to_text).collect();
    if pages.is_single() {
        return see_other("/account", None);
    }
    if id.is_some() || values.is_empty() {
        return see_other(&pages.list_path(), None);
    }
    let created = Created { noun: t.text(pages.noun), values, list_path: pages.list_path(), t };
    // Writing into a string cannot fail.
    render_account_page(viewer, t.text("Created"), Some(pages), &created.render().unwrap_or_default())
}
