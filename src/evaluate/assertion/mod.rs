//! Assertions on a response (behaviour.md 4, Assertions; allowed pairs: fields.md 4).
//!
//! An assertion is checked and compiled once, when its monitor is loaded; if its value has variables, when they are
//! known ([`AssertionTemplate`]). A [`ParsedResponse`] is parsed at most once for all assertions of a step. Sizes and
//! depths are bounded, and so is the number of nodes that all paths together may visit: tenths of a second. Regular
//! expressions take a time linear in the body: seconds for a large one, and minutes for a few expressions. So a large
//! body must be checked where blocking is fine, with a time limit ([`ParsedResponse::with_search_budget`]).

mod assertion_template;
mod compare;
mod compiled;
mod direct_path;
mod error;
pub(in crate::evaluate) mod json_query;
mod lookup;
mod response;
mod schema_match;
mod settings;

pub use assertion_template::AssertionTemplate;
pub use compiled::{Assertion, evaluate_all};
pub use error::AssertionError;
pub(in crate::evaluate) use lookup::Lookup;
pub use response::ParsedResponse;
pub(in crate::evaluate) use response::one_line_excerpt;
pub use settings::AssertionSettings;
