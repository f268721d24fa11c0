//! Pure decisions about what was seen.

pub mod assertion;
pub mod certificate;
pub mod charset;
pub mod keyword;
pub mod page;
mod patience;
pub mod settle;
pub mod sla;
mod spaces;
pub mod template;
pub mod variable;
mod verdict;
mod xpath;

pub use patience::SearchBudget;
pub use verdict::evaluate_attempts;
