//! Rules over several fields of a document (fields.md 1–4), and what is worth a warning when it is saved.

mod address;
mod check;
mod judged;
mod locations;
mod plans;
mod properties;
mod scripts;
mod steps;
mod warnings;
mod web;

pub(super) use check::check;
pub(super) use judged::RuleInput;
pub(super) use warnings::warnings;
