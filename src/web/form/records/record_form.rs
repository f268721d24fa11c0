//! The form of a record.

use askama::Template;
use axum::Extension;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::record_choices::record_choices;
use super::record_scope::RecordScope;
use super::state::AccountState;
use crate::domain::Revision;
use crate::service::{SavedObject, ServiceError};
use crate::syntax::ValidationError;
use crate::texts::Locale;
use crate::web::actions::refused;
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::form::build_input::{FormContent, build_input};
use crate::web::form::conflict::conflict_error;
use crate::web::form::fields_from_text::{StoredValues, body_from_texts};
use crate::web::form::input::{FormInput, wrong_inputs};
use crate::web::form::monitor_form::general_errors;
use crate::web::form::text_from_values::{FormTexts, texts_from_values};
use crate::web::form::typed_secrets::seal_typed_secrets;
use crate::web::html::with_code;
use crate::web::page_auth::OwnFormPage;
use crate::web::viewer::Viewer;

/// Name of the input with the type that the choices of the form belong to.
pub(super) const CHOICES_OF: &str = "choices_of";

/// Name of the input with the time zone that the dates of the form are in.
pub(super) const DATES_IN: &str = "dates_in";

/// A record in its form.
pub(super) struct RecordForm {
    /// Its kind, and whose it is.
    pub(super) scope: RecordScope,
    /// Its id; `None` for a new one.
    pub(super) id: Option<i64>,
    /// What is stored, with masks; the defaults for a new one.
    pub(super) stored: Map<String, Value>,
    /// What stands in the inputs.
    pub(super) texts: FormTexts,
    /// The revision that the person saw; empty for a new one.
    pub(super) revision: String,
    /// What is wrong with it.
    pub(super) errors: Vec<ValidationError>,
    /// Path of the item that the person goes on with.
    pub(super) focus: Option<String>,
}

#[derive(Template)]
#[template(path = "record_form.html", config = "src/web/askama.toml")]
struct RecordFormPage<'a> {
    title: &'a str,
    description: &'a str,
    action: &'a str,
    form_token: &'a str,
    revision: &'a str,
    /// The type that the choices belong to.
    choices_of: &'a str,
    /// The time zone of the dates.
    dates_in: &'a str,
    general_errors: Vec<String>,
    inputs: Vec<FormInput>,
    /// Whether the person may save it.
    may_edit: bool,
    list_path: &'a str,
    /// Path of the page that asks whether to remove it; empty for a new one.
    removal_path: &'a str,
    t: Locale,
}

impl RecordFormPage<'_> {
    fn wrong_inputs(&self) -> Vec<&FormInput> {
        wrong_inputs(self.inputs.iter())
    }
}

impl RecordForm {
    /// Returns the form of a new record.
    pub(super) fn new(scope: RecordScope) -> Self {
        let defaults = scope.pages.table.defaults();
        Self::with_values(scope, None, defaults, String::new())
    }

    /// Returns the form of the record `id` with the fields `stored`.
    pub(super) fn existing(
        scope: RecordScope,
        id: i64,
        stored: Map<String, Value>,
        revision: Revision,
    ) -> Self {
        Self::with_values(scope, Some(id), stored, revision.to_string())
    }

    fn with_values(
        scope: RecordScope,
        id: Option<i64>,
        stored: Map<String, Value>,
        revision: String,
    ) -> Self {
        let fields = scope.pages.fields();
        let texts = scope.zones.shown_texts(&fields, texts_from_values(&fields, &stored));
        Self { scope, id, stored, texts, revision, errors: Vec::new(), focus: None }
    }

    fn stored_values(&self) -> StoredValues {
        match self.id {
            Some(_) => StoredValues::masked(&self.stored),
            None => StoredValues::default(),
        }
    }

    /// Returns the error of a form whose record was changed since it was opened; names what saving it would overwrite.
    pub(super) fn conflict_error(&self, t: Locale) -> ValidationError {
        let fields = self.scope.pages.fields();
        let shown = self.scope.zones.shown_texts(&fields, texts_from_values(&fields, &self.stored));
        conflict_error(&fields, &self.texts, &shown, &self.stored_values(), t)
    }

    /// Saves what the form holds.
    pub(super) async fn save(&self, state: &AccountState) -> Result<SavedObject, ServiceError> {
        let fields = self.scope.pages.fields();
        let shown = texts_from_values(&fields, &self.stored);
        let texts = self.scope.zones.stored_texts(&fields, &self.texts, &shown)?;
        let body = body_from_texts(&fields, &texts, &shown, &self.stored_values(), self.id.is_none())?;
        let service = &state.config_record_service;
        match self.id {
            None => self.scope.create(service, &body).await,
            Some(id) => {
                // Without the revision that the person saw, the change of somebody else would be lost.
                let seen = self.revision.parse().map(Revision);
                let seen = seen.map_err(|_| ServiceError::PreconditionFailed)?;
                self.scope.patch(service, id, &body, seen).await
            }
        }
    }

    /// Makes the page.
    pub(super) async fn render(
        mut self,
        state: &AccountState,
        viewer: &Viewer,
        status: StatusCode,
    ) -> Response {
        let (pages, t) = (self.scope.pages, viewer.locale());
        let fields = pages.fields();
        seal_typed_secrets(&state.actions.monitor_service, &self.scope.caller, &fields, &mut self.texts);
        let is_about_recipient = self.texts.get("type").is_some_and(|kind| kind == "Notifier");
        let choices = match record_choices(state, &self.scope, is_about_recipient, t).await {
            Ok(choices) => choices,
            Err(error) => return refused(&error),
        };
        let stored = self.stored_values();
        let content = FormContent {
            texts: &self.texts,
            errors: &self.errors,
            choices: &choices,
            focus: self.focus.as_deref(),
            zones: self.scope.zones,
            t,
        };
        let to_input = |field: &&'static crate::schema::field::Field| {
            build_input(field, field.name, content, stored.get(field.name))
        };
        let (noun, list_path) = (t.text(pages.noun), self.scope.list_path());
        let (title, action, removal_path) = match self.id {
            None => (t.fill("New {noun}", &[("noun", noun)]), format!("{list_path}/new"), String::new()),
            Some(id) if pages.is_single() => {
                (t.text(pages.title).to_owned(), format!("{list_path}/{id}"), String::new())
            }
            Some(id) => {
                let title = t.fill("Edit {noun}", &[("noun", noun)]);
                (title, format!("{list_path}/{id}"), format!("{list_path}/{id}/remove"))
            }
        };
        let page = RecordFormPage {
            title: &title,
            description: t.text(pages.table.description),
            action: &action,
            form_token: viewer.form_token().unwrap_or_default(),
            revision: &self.revision,
            choices_of: self.texts.get("type").map_or("", String::as_str),
            dates_in: self.scope.zones.dates.name(),
            general_errors: general_errors(&fields, &self.errors),
            inputs: fields.iter().map(to_input).collect(),
            may_edit: self.scope.may_edit(state, viewer),
            list_path: &list_path,
            removal_path: &removal_path,
            t,
        };
        // Writing into a string cannot fail.
        let body = page.render().unwrap_or_default();
        (status, Extension(OwnFormPage), self.scope.render_page(viewer, &title, &body)).into_response()
    }
}
