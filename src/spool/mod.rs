//! Records kept on disk for whoever cannot deliver them now: results and their captures, until the store or the bus
//! takes them. Bounded by bytes and age; a process that is killed at any moment loses no record whose
//! [`Spool::append`] returned.

mod error;
mod file_operations;
mod folder;
mod folder_lock;
#[cfg(test)]
mod folder_tests;
#[cfg(test)]
mod kill_tests;
mod record;
mod segments;
mod settings;

pub use error::SpoolError;
pub use folder::{DroppedRecords, ReadOrder, Spool};
pub use record::SpoolRecord;
pub use settings::SpoolSettings;
