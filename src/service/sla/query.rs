//! Which SLA report is wanted, and why there is none.

use super::granularity::Granularity;
use crate::domain::Timestamp;
use crate::store::StoreError;

/// Which report is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlaQuery {
    /// Its start; without it that of the day, month or year, by `by`.
    pub from: Option<Timestamp>,
    /// Its end; without it now.
    pub thru: Option<Timestamp>,
    /// How it is cut.
    pub by: Granularity,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such agreement.
    #[error("there is no such agreement")]
    NotFound,
    /// The time is empty, or not begun.
    #[error("`from` must lie before `thru`, and not ahead")]
    Empty,
    /// It would be of too many pieces.
    #[error("the time has more than 1000 pieces of this kind; ask for a shorter time or longer pieces")]
    TooLong,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
