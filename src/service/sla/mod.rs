//! Reports of service level agreements, computed from single results while those are retained (behaviour.md 7).

mod agreement;
mod compute;
mod granularity;
mod query;
pub(crate) mod report;
mod settled_runs;

pub(super) use compute::compute_report;
pub use granularity::Granularity;
pub use query::{ReportError, SlaQuery};
pub use report::{ErrorBudgetReport, SlaReport};
