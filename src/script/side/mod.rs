//! Projects of Selenium IDE (`.side`, versions 1 to 3) as scripts of the dialect, with a list of all that could not
//! be carried over.

mod carrier;
mod carry;
mod commands;
mod import;
mod imported;
mod locate;
mod project;
mod texts;

pub use imported::{ImportIssue, ImportReport};
pub use project::{SideError, SideProject};
