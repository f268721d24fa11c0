//! Watches performance alerts: each minute the mean of every rule's window, by location; what is raised is kept with
//! the messages that it makes, in one transaction (behaviour.md 6).

mod evaluator;
mod notification_content;
mod rule;

pub use evaluator::{PerformanceDependencies, PerformanceEvaluator};
