//! Texts with positions: YAML and JSON with line and column, faults, templates, paths, `XPath`.

pub mod comparison;
pub mod escape;
mod fault;
pub mod format;
mod json;
pub mod path;
pub mod source;
pub mod template;
pub mod words;
pub mod xpath;
pub mod yaml;

pub use fault::{MASK, ValidationError, ValidationErrorKind, closest_match, display_value, truncate_value};
