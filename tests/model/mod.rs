//! The field table, its input formats and the monitor files.

mod files;
mod formats;
mod memory;
mod node;
mod properties;
mod reference;
mod result_json;
mod rules;
mod schema;
mod scripts;
pub mod support;
mod table;
mod warnings;
