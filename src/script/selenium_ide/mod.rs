//! Projects of Selenium IDE (`.side`, versions 1 to 3) as scripts of the dialect, with a list of all that could not
//! be carried over.

mod commands;
mod convert;
mod converter;
mod import;
mod import_report;
mod locators;
mod project;
mod text;

pub use import_report::{ImportIssue, ImportReport};
pub use project::{SideError, SideProject};
