//! The query of an SLA report, and its errors.

use super::granularity::Granularity;
use crate::domain::Timestamp;
use crate::store::StoreError;

/// Query of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlaQuery {
    /// Its start; by default that of the day, month or year, depending on the granularity.
    pub from: Option<Timestamp>,
    /// Its end; by default now.
    pub until: Option<Timestamp>,
    /// Length of its periods.
    pub granularity: Granularity,
}

/// Why a report failed.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The agreement does not exist.
    #[error("the agreement does not exist")]
    NotFound,
    /// The time range is empty or in the future.
    #[error("`from` must be before `thru`, and not in the future")]
    EmptyRange,
    /// It would have too many periods.
    #[error("the time range has more than 1000 periods; request a shorter range or longer periods")]
    TooManyPeriods,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
