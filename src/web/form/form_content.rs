//! What the page of a form holds, and how it is made.

use askama::Template;
use axum::Extension;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::build_input::FormContent;
use super::form_choices::FormChoices;
use super::form_subject::FormSubject;
use super::form_zones::FormZones;
use super::input_names::CHECK_LOCATION;
use super::monitor_form::{MonitorForm, form_sections, general_errors};
use super::shown_as::ShownAs;
use super::text_from_values::FormTexts;
use super::typed_secrets::seal_typed_secrets;
use crate::schema::table;
use crate::service::Caller;
use crate::service::monitors::form_context;
use crate::syntax::ValidationError;
use crate::web::actions::{ActionsState, refused, test_page_of};
use crate::web::page_auth::OwnFormPage;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::viewer::Viewer;

/// The page of a form.
pub(super) struct FormPage<'a> {
    /// What the form is about.
    pub(super) subject: &'a FormSubject,
    /// What stands in its inputs.
    pub(super) texts: FormTexts,
    /// The revision that the person saw; empty for a new monitor.
    pub(super) revision: String,
    /// What is wrong with it.
    pub(super) errors: Vec<ValidationError>,
    /// Path of the item that the person goes on with.
    pub(super) focus: Option<String>,
    /// Id of the check of what it holds.
    pub(super) test: Option<i64>,
    /// Warnings about what it holds.
    pub(super) warnings: Vec<String>,
    /// The monitor as a text.
    pub(super) shown_as: Option<ShownAs>,
    /// Status of the response.
    pub(super) status: StatusCode,
}

impl<'a> FormPage<'a> {
    /// Returns the page with `texts` in the inputs.
    pub(super) fn new(subject: &'a FormSubject, texts: FormTexts) -> Self {
        Self {
            subject,
            texts,
            revision: String::new(),
            errors: Vec::new(),
            focus: None,
            test: None,
            warnings: Vec::new(),
            shown_as: None,
            status: StatusCode::OK,
        }
    }

    /// Makes the response.
    pub(super) async fn render(mut self, state: &ActionsState, viewer: &Viewer, caller: &Caller) -> Response {
        let context = match form_context(&state.monitor_service, caller).await {
            Ok(context) => context,
            Err(error) => return refused(&error),
        };
        let (fields, t) = (self.subject.fields(), viewer.locale());
        seal_typed_secrets(&state.monitor_service, caller, &fields, &mut self.texts);
        let check = match self.test {
            Some(test) => self.render_check(state, viewer, test).await,
            None => String::new(),
        };
        let (action, cancel_path) = (self.subject.action(), self.subject.parent_path());
        let monitor_type = self.subject.monitor_type();
        let (title, breadcrumb) = match self.subject {
            FormSubject::New(_) => (t.text("New monitor").to_owned(), None),
            FormSubject::Existing(monitor) => {
                let crumb = Breadcrumb { name: monitor.name().to_owned(), path: cancel_path.clone() };
                (t.fill("Edit {noun}", &[("noun", monitor.name())]), Some(crumb))
            }
        };
        let choices = FormChoices::of_monitors(&context.locations, &context.choices);
        let content = FormContent {
            texts: &self.texts,
            errors: &self.errors,
            choices: &choices,
            focus: self.focus.as_deref(),
            zones: FormZones::new(&viewer.preferences),
            t,
        };
        let locations = context.locations.iter();
        let own_location = viewer.location_switch.chosen().map_or_else(String::new, |id| id.to_string());
        let form = MonitorForm {
            title: &title,
            action: &action,
            form_token: viewer.form_token().unwrap_or_default(),
            monitor_type,
            description: t.text(table::for_type(monitor_type).description),
            revision: self.revision,
            general_errors: general_errors(&fields, &self.errors),
            sections: form_sections(monitor_type, content, &self.subject.stored_values()),
            cancel_path: &cancel_path,
            locations: locations.map(|location| (location.id.to_string(), location.name.clone())).collect(),
            check_location: self.texts.get(CHECK_LOCATION).unwrap_or(&own_location),
            check,
            shown_as: self.shown_as,
            warnings: &self.warnings,
            t,
        };
        let page_title = format!("{title} · Vigie");
        let frame = PageFrame {
            section: Some(Section::Monitors),
            breadcrumbs: std::iter::once(Breadcrumb::monitors(viewer.locale())).chain(breadcrumb).collect(),
            ..PageFrame::new(&page_title, viewer).at(state.pages.clock.now())
        };
        // Writing into a string cannot fail.
        let page = render_page(frame, &form.render().unwrap_or_default());
        (self.status, Extension(OwnFormPage), page).into_response()
    }

    /// Renders the check `test`, which goes on by itself, and the link to its page.
    async fn render_check(&self, state: &ActionsState, viewer: &Viewer, test: i64) -> String {
        let path = self.subject.check_path(test);
        test_page_of(state, viewer, &path).await.map_or_else(|_| String::new(), |page| page.render(&path))
    }
}
