//! Rules over several fields of a document (fields.md 1–4), and warnings about accepted documents.

mod address;
mod apply_all;
mod billing_plans;
mod browsers;
mod collections;
mod dependencies;
mod host_agent;
mod locations;
mod properties;
mod rule_context;
mod scripts;
mod security_scans;
mod steps;
mod type_specific;
mod warnings;

pub(super) use apply_all::apply_all;
pub use host_agent::PUSH_METRIC;
pub(super) use rule_context::RuleInput;
pub(super) use warnings::warnings;
