//! SQLite files as the source and the target of a copy of a store.

mod source;
mod table_reader;
mod table_writer;
mod target;

pub use source::SqliteCopySource;
pub use target::SqliteCopyTarget;
