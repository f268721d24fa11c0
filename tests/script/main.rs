//! The dialect of browser scripts: its parser, writer and schema, the examples, the importer and the commands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/binary.rs"]
mod binary;
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

#[path = "../support/lacking.rs"]
mod lacking;
