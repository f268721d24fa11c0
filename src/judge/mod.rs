//! Pure decisions about what was seen.

pub mod assertion;
pub mod certificate;
pub mod charset;
pub mod keyword;
pub mod page;
pub mod settle;
pub mod sla;
mod spaces;
pub mod telling;
pub mod template;
pub mod variable;
mod verdict;
mod xpath;

pub use verdict::verdict;
