//! A PostgreSQL database that is copied from or to.

mod rows;
mod source;
mod target;

pub use source::PostgresCopySource;
pub use target::PostgresCopyTarget;
