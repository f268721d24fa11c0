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

pub use fault::{FieldFault, MASK, Rule, nearest, shortened, shown};
