//! The field table, its forms and the monitor files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

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
mod support;
mod table;
mod warnings;
