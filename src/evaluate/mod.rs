//! Pure functions that evaluate observations.

pub mod assertion;
pub mod certificate;
pub mod charset;
pub mod json_value;
pub mod keyword;
pub mod page_comparison;
mod pattern_cache;
mod search_budget;
pub mod security;
pub mod settle;
pub mod sla;
pub mod template;
pub mod threshold;
pub mod variable;
mod verdict;
mod whitespace;
pub mod xml_query;
mod xpath;

pub use pattern_cache::{PatternCache, PatternCaches, pattern_failure};
pub use search_budget::SearchBudget;
pub use verdict::evaluate_attempts;
pub use xpath::LazyPageXml;
