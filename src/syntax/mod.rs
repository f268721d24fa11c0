//! Parsers of texts: YAML and JSON with line and column, templates, JSONPath, `XPath`, pages of metrics; objects of JSON;
//! and validation errors.

pub mod comparison;
pub mod escape;
mod json;
pub(crate) mod json_object;
pub mod json_schema;
pub(crate) mod line_index;
pub mod node;
pub mod path_expression;
pub mod pattern;
mod positioned_json;
pub mod prometheus;
pub(crate) mod secret_parts;
pub mod status_codes;
pub mod substring_set;
pub mod template;
pub mod text_format;
mod validation_error;
pub(crate) mod xml_source;
pub mod xpath;
pub mod yaml_writer;

pub use validation_error::{
    MASK, ValidationError, ValidationErrorKind, closest_match, display_value, truncate_value,
};
