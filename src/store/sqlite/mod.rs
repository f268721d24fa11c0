//! Implements the store with SQLite: one writing thread, a few reading threads, one file in WAL mode.

mod alerts;
mod audit;
mod captures;
mod change_error;
mod config_changes;
mod config_store;
mod decode;
mod error;
mod event_series;
mod housekeeping;
mod ingest;
mod maintenance;
mod migrations;
mod monitors;
mod open;
mod paged_query;
mod read_only;
mod reader_pool;
mod records;
mod result_counts;
mod result_filter;
mod results;
mod retention;
mod rollup;
mod samples;
mod settings;
mod store;
mod tokens;
mod usage;
mod write_cache;
mod writer;

pub use maintenance::{back_up, inspect, migrate_file, restore};
pub use read_only::SqliteReadOnlyStore;
pub use settings::{DATABASE_FILE, SqliteSettings, Synchronous};
pub use store::SqliteStore;
