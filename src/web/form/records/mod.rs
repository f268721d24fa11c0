//! The pages of what an account has beside its monitors: recipients, blackouts, properties and others, with the same forms;
//! and of what a monitor has: performance alerts.

mod kinds;
mod list_page;
mod password_page;
mod record_choices;
mod record_form;
mod record_page;
mod record_scope;
mod removal;
mod state;

pub(in crate::web) use kinds::PAGES;
#[cfg(test)]
pub(in crate::web::form) use kinds::PERFORMANCE_ALERTS;
pub(in crate::web) use list_page::{get_index, get_list};
pub(in crate::web) use password_page::{get_password_form, post_password_form};
pub(in crate::web) use record_page::{get_edit_form, get_new_form, post_edit_form, post_new_form};
pub(in crate::web) use removal::{get_removal, post_removal};
pub use state::AccountState;
