//! Rules over several fields of a document (fields.md 1–4), and warnings about accepted documents.

mod address;
mod browsers;
mod check;
mod dependencies;
mod locations;
mod plans;
mod properties;
mod rule_context;
mod scripts;
mod steps;
mod warnings;
mod web;

pub(super) use check::check;
pub(super) use rule_context::RuleInput;
pub(super) use warnings::warnings;
