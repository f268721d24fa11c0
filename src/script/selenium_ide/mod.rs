//! Converts projects of Selenium IDE (`.side`, versions 1 to 3) to scripts, with a list of everything that could not be
//! converted.

mod commands;
mod convert;
mod converter;
mod import_report;
mod locators;
mod project;
mod text;

pub use import_report::{ImportIssue, ImportReport};
pub use project::{SeleniumIdeProject, SeleniumIdeProjectError};
