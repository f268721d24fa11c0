//! Counts for a service level agreement (behaviour.md 7): which checks count, their counts, and how much of the error
//! budget is used up.

mod aggregator;
mod error_budget;
mod stats;
mod time_ranges;

pub use aggregator::{SlaAggregate, SlaAggregator, SlaScope};
pub use error_budget::{ErrorBudget, ObjectiveStatus, SlaObjective, ratio_percent};
pub use stats::SlaStats;
pub use time_ranges::TimeRanges;
