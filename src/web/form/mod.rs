//! Forms of monitors, derived from the tables of fields: the same names, rules, defaults and messages as in the API.

mod fields_from_text;
mod form_page;
mod input;
mod monitor_form;
mod removal;
mod text_from_values;

pub(super) use form_page::{get_edit_form, get_new_form, post_edit_form, post_new_form};
pub(super) use removal::{get_removal, post_removal};
