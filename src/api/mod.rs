//! The JSON APIs. Version 3 is read-only so far and, until there are accounts, answers to the host that it
//! runs on and to nobody else.

mod access;
mod error;
mod list;
mod query;
pub mod v3;

pub use error::ApiError;
