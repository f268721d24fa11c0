//! Forms of monitors, derived from the tables of fields: the same names, rules, defaults and messages as in the API.

mod build_input;
mod conditions;
mod conflict;
mod fields_from_text;
mod form_action;
mod form_choices;
mod form_content;
mod form_fields;
mod form_page;
mod form_subject;
mod form_zones;
mod input;
mod input_names;
mod item_edits;
mod kept_form;
#[cfg(test)]
mod label_tests;
mod labels;
mod monitor_form;
mod nested_values;
#[cfg(test)]
mod nested_values_tests;
mod plain_values;
pub(super) mod records;
mod removal;
mod saved_page;
mod shown_as;
mod submission;
mod text_from_values;
mod typed_secrets;

pub(super) use form_page::{get_edit_form, get_new_form, get_saved, post_edit_form, post_new_form};
pub(super) use kept_form::{continue_page, read_kept_form};
pub(super) use labels::error_text;
pub(super) use removal::{get_removal, post_removal};
pub(super) use saved_page::SavedPage;
