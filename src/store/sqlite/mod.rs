//! SQLite behind the traits of the store: one thread that writes, a few that read, one file in WAL mode.

mod alarms;
mod audit;
mod captures;
mod change;
mod conditions;
mod counts;
mod decode;
mod error;
mod fault;
mod housekeeping;
mod ingest;
mod ledger;
mod list;
mod monitors;
mod open;
mod reader;
mod readers;
mod records;
mod results;
mod retain;
mod rollup;
mod row;
mod samples;
mod schema;
mod settings;
mod shared;
mod store;
mod tokens;
mod writer;

pub use reader::ReadOnlyStore;
pub use rollup::SKETCH_RELATIVE_ERROR;
pub use settings::{SqliteSettings, Synchronous};
pub use store::SqliteStore;
