//! Assertions on an answer (behaviour.md 4, Assertions; allowed pairs: fields.md 4).
//!
//! An assertion is checked and compiled once, when its monitor is loaded; one whose value has variables, when
//! they are known ([`AssertionTemplate`]). An [`ParsedResponse`] is parsed at most once for all assertions of a step. Sizes and
//! depths are bounded, and so is what all paths together may look at: tenths of a second. Regular expressions
//! take a time that grows with the body only, which for a large one is seconds and for a few expressions minutes, so
//! that whoever judges a large body does so where blocking is fine, and says how long it may take ([`ParsedResponse::with_search_budget`]).

mod assertion_template;
mod compare;
mod compiled;
mod direct_path;
mod error;
mod json_query;
mod lookup;
mod pattern;
mod response;
mod settings;

pub use assertion_template::AssertionTemplate;
pub use compiled::{Assertion, evaluate_all};
pub use error::AssertionError;
pub(in crate::evaluate) use lookup::Lookup;
pub(in crate::evaluate) use pattern::compile_regex;
pub use response::ParsedResponse;
pub(in crate::evaluate) use response::excerpt;
pub use settings::AssertionSettings;
