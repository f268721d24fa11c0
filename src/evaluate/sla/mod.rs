//! Figures of a service level agreement (behaviour.md 7): what counts, what is counted, and how much of what was
//! allowed is used up.

mod budget;
mod figures;
mod spans;
mod tally;

pub use budget::{ErrorBudget, ObjectiveStatus, SlaObjective, ratio_percent};
pub use figures::SlaStats;
pub use spans::TimeRanges;
pub use tally::{SlaAggregate, SlaAggregator, SlaScope};
