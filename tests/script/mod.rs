//! Tests the dialect of browser scripts: parser, writer, schema, examples, importer and commands.

mod check;
mod errors;
mod forms;
mod hostile;
mod import;
mod manual_page;
mod round_trips;
mod schema;
mod selenium_ide;
mod support;
