//! The dialect of browser scripts: its parser, writer and schema, the examples, the importer and the commands.

mod bombs;
mod check;
mod forms;
mod import;
mod page;
mod refused;
mod rounds;
mod schema;
mod side;
mod support;
