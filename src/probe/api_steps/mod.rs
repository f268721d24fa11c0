//! `website-api` and `website-ssl-api`: requests one after another, with what has to hold for their answers
//! and what later ones take out of them (behaviour.md 4).

mod judge;
mod options;
mod plan;
mod probe;
mod run;

pub use probe::build;
