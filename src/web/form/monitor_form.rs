//! The form of a monitor: its inputs in sections.

use askama::Template;

use super::fields_from_text::CLEAR_PREFIX;
use super::input::{Control, FormInput, error_text};
use super::text_from_values::FormTexts;
use crate::domain::{Location, MonitorType};
use crate::schema::field::{Access, Field};
use crate::schema::table;
use crate::schema::table::shared::{IDENTITY_FIELDS, SCHEDULE_FIELDS};
use crate::syntax::ValidationError;
use crate::web::csrf::FORM_TOKEN_FIELD;

/// Fields beside those of the table that say when and where a monitor runs.
const OTHER_SCHEDULE_FIELDS: [&str; 2] = ["interval_seconds", "depends_on"];

/// Fields that have no effect in a form: one follows from the mode, and has no other value than that.
const FIELDS_WITHOUT_INPUT: [&str; 1] = ["monitor_location_count"];

/// Returns the fields that a person may set.
pub(super) fn settable_fields(monitor_type: MonitorType) -> Vec<&'static Field> {
    let fields = table::for_type(monitor_type).fields().iter().copied();
    let has_input = |field: &&'static Field| {
        field.access == Access::ReadWrite && !FIELDS_WITHOUT_INPUT.contains(&field.name)
    };
    fields.filter(has_input).collect()
}

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
        self.more.iter().any(|input| input.is_changed || !input.errors.is_empty())
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
    pub(super) description: &'static str,
    /// Revision that the person saw; empty for a new monitor.
    pub(super) revision: String,
    /// Errors of no single input.
    pub(super) general_errors: Vec<String>,
    pub(super) sections: Vec<FormSection>,
    pub(super) cancel_path: &'a str,
}

/// Returns the sections of the form with `texts` in its inputs. `stored_secrets` names the secrets that are stored.
pub(super) fn form_sections(
    monitor_type: MonitorType,
    texts: &FormTexts,
    errors: &[ValidationError],
    locations: &[Location],
    stored_secrets: &[&str],
) -> Vec<FormSection> {
    let is_named = |fields: &[Field], name: &str| fields.iter().any(|field| field.name == name);
    let (mut identity, mut own, mut schedule) = (Vec::new(), Vec::new(), Vec::new());
    for field in settable_fields(monitor_type) {
        let choices = (field.name == "home_location").then(|| {
            locations.iter().map(|location| (location.id.to_string(), location.name.clone())).collect()
        });
        let is_stored = stored_secrets.contains(&field.name);
        let input = FormInput::new(field, texts, errors, choices, is_stored);
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
    let (own_main, own_more) = own.into_iter().partition(|input| input.required || is_main(input.name));
    let (schedule_main, schedule_more) =
        schedule.into_iter().partition(|input| ["enabled", "interval"].contains(&input.name));
    vec![
        FormSection { title: "Name", main: identity, more: Vec::new() },
        FormSection { title: "What is checked", main: own_main, more: own_more },
        FormSection { title: "When, where, and what follows", main: schedule_main, more: schedule_more },
    ]
}

/// Whether an input of the type is shown from the start although it may stay empty: what most monitors of the type set.
fn is_main(name: &str) -> bool {
    ["url", "hostname", "port", "keyword_string", "api_steps", "script", "username", "domain", "record_type"]
        .contains(&name)
}

/// Returns the errors that belong to no input of `monitor_type`.
pub(super) fn general_errors(monitor_type: MonitorType, errors: &[ValidationError]) -> Vec<String> {
    let names: Vec<&str> = settable_fields(monitor_type).iter().map(|field| field.name).collect();
    let is_general = |error: &&ValidationError| {
        !error.path.split(['.', '[']).next().is_some_and(|name| names.contains(&name))
    };
    errors.iter().filter(is_general).map(error_text).collect()
}

impl MonitorForm<'_> {
    /// Returns the inputs that are wrong.
    fn wrong_inputs(&self) -> Vec<&FormInput> {
        let inputs = self.sections.iter().flat_map(|section| section.main.iter().chain(&section.more));
        inputs.filter(|input| !input.errors.is_empty()).collect()
    }
}
