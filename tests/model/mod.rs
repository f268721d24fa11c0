//! The field table, its forms and the monitor files.

mod files;
mod forms;
mod memory;
mod pins;
mod properties;
mod record;
mod rules;
mod schema;
mod scripts;
mod source;
pub mod support;
mod table;
mod warnings;
