//! Checks, migrates, backs up and restores SQLite files (src/manual/database.md).

mod backup;
mod inspect;
mod migrate;
mod page_copy;
mod restore;

pub use backup::back_up;
pub use inspect::inspect;
pub use migrate::migrate_file;
pub use restore::restore;
