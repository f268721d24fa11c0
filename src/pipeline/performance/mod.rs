//! Performance alerts: each minute, the mean of every rule over its window, for each location. Active alerts are
//! stored in one transaction with their notifications (behaviour.md 6).

mod evaluator;
mod notification_content;
mod rule;
mod task;

pub use evaluator::{PerformanceDependencies, PerformanceEvaluator};
pub use task::PerformanceTask;
