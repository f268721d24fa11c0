//! `website-api` and `website-ssl-api`: a sequence of requests, with assertions on their responses and variables that
//! later requests use (behaviour.md 4).

mod attempt;
mod evaluate;
mod options;
mod probe;
mod step_plan;

pub use probe::build;
