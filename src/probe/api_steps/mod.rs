//! `website-api` and `website-ssl-api`: requests one after another, with what has to hold for their answers
//! and what later ones take out of them (behaviour.md 4).

mod attempt;
mod evaluate;
mod options;
mod probe;
mod step_plan;

pub use probe::build;
