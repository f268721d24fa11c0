//! The form of a monitor: its inputs in sections.

use askama::Template;

use super::build_input::{FormContent, build_input};
use super::fields_from_text::StoredValues;
use super::form_fields::settable_fields;
use super::input::{FormInput, wrong_inputs};
use super::input_names::{ACTION_NAME, CHECK_LOCATION};
use super::labels::error_text;
use super::shown_as::{ShownAs, TextForm};
use crate::domain::MonitorType;
use crate::schema::field::Field;
use crate::schema::table::shared::{IDENTITY_FIELDS, SCHEDULE_FIELDS};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};
use crate::texts::{Locale, key};
use crate::web::csrf::FORM_TOKEN_FIELD;

/// Fields beside those of the table that say when and where a monitor runs.
const OTHER_SCHEDULE_FIELDS: [&str; 2] = ["interval_seconds", "depends_on"];

/// A part of the form.
pub(super) struct FormSection {
    title: &'static str,
    /// Inputs that are always shown.
    main: Vec<FormInput>,
    /// Inputs that are folded until one is needed.
    more: Vec<FormInput>,
}

impl FormSection {
    /// Whether the folded inputs are shown: one is set, or wrong.
    fn is_open(&self) -> bool {
        self.more.iter().any(|input| input.is_changed || input.is_wrong())
    }
}

/// The form.
#[derive(Template)]
#[template(path = "monitor_form.html", config = "src/web/askama.toml")]
pub(super) struct MonitorForm<'a> {
    pub(super) title: &'a str,
    pub(super) action: &'a str,
    pub(super) form_token: &'a str,
    pub(super) monitor_type: MonitorType,
    pub(super) description: &'a str,
    /// Revision that the person saw; empty for a new monitor.
    pub(super) revision: String,
    /// Errors of no single input.
    pub(super) general_errors: Vec<String>,
    pub(super) sections: Vec<FormSection>,
    pub(super) cancel_path: &'a str,
    /// Ids and names of the locations that a check can be run from.
    pub(super) locations: Vec<(String, String)>,
    /// The location that was chosen; empty for the monitor's own.
    pub(super) check_location: &'a str,
    /// The check of what the form holds: HTML.
    pub(super) check: String,
    /// The monitor as a text, if somebody asked for it.
    pub(super) shown_as: Option<ShownAs>,
    /// Warnings about what the form holds, in English as in the API.
    pub(super) warnings: &'a [String],
    pub(super) t: Locale,
}

/// Returns the sections of the form with `content` in its inputs.
pub(super) fn form_sections(
    monitor_type: MonitorType,
    content: FormContent<'_>,
    stored: &StoredValues,
) -> Vec<FormSection> {
    let is_named = |fields: &[Field], name: &str| fields.iter().any(|field| field.name == name);
    let (mut identity, mut own, mut schedule) = (Vec::new(), Vec::new(), Vec::new());
    for field in settable_fields(monitor_type) {
        let input = build_input(field, field.name, content, stored.get(field.name));
        if is_named(IDENTITY_FIELDS, field.name) {
            identity.push(input);
        } else if is_named(SCHEDULE_FIELDS, field.name) || OTHER_SCHEDULE_FIELDS.contains(&field.name) {
            schedule.push(input);
        } else {
            own.push(input);
        }
    }
    // People begin with the name.
    identity.sort_by_key(|input| input.name != "name");
    let (own_main, own_more) =
        own.into_iter().partition(|input| input.required || is_main(monitor_type, &input.name));
    let (schedule_main, schedule_more) =
        schedule.into_iter().partition(|input| ["enabled", "interval"].contains(&input.name.as_str()));
    vec![
        FormSection { title: key("Name"), main: identity, more: Vec::new() },
        FormSection { title: key("What is checked"), main: own_main, more: own_more },
        FormSection { title: key("When, where, and what follows"), main: schedule_main, more: schedule_more },
    ]
}

/// Whether an input of the type is shown from the start although it may stay empty: what most monitors of the type set.
fn is_main(monitor_type: MonitorType, name: &str) -> bool {
    // A request is a step; the one request instead of steps is for those who have it.
    let has_steps = matches!(monitor_type, MonitorType::WebsiteApi | MonitorType::WebsiteSslApi);
    let is_url = name == "url" && !has_steps;
    is_url
        || ["hostname", "port", "keyword_string", "api_steps", "script", "username", "domain", "record_type"]
            .contains(&name)
}

/// Returns the errors that belong to no input of `fields`.
pub(super) fn general_errors(fields: &[&'static Field], errors: &[ValidationError]) -> Vec<String> {
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    let is_general = |error: &&ValidationError| {
        !error.path.split(['.', '[']).next().is_some_and(|name| names.contains(&name))
    };
    errors.iter().filter(is_general).map(error_text).collect()
}

/// Makes an error that belongs to no field.
pub(super) fn general_error(message: &str) -> ValidationError {
    ValidationError::new(ValidationErrorKind::Conflict, "", Position::default(), message.to_owned())
}

impl MonitorForm<'_> {
    /// Returns the inputs that are wrong.
    fn wrong_inputs(&self) -> Vec<&FormInput> {
        wrong_inputs(self.sections.iter().flat_map(|section| section.main.iter().chain(&section.more)))
    }
}
