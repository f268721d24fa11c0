//! Reads how many checks ran.

use super::future::StoreFuture;
use crate::domain::{CustomerId, Timestamp, UsageGrouping};

/// Which checks are counted, and by what.
#[derive(Clone, Copy, Debug)]
pub struct UsageQuery {
    /// The account.
    pub customer: CustomerId,
    /// Start of the first day, UTC.
    pub from: Timestamp,
    /// End of the last day, UTC.
    pub until: Timestamp,
    /// What they are counted by.
    pub by: UsageGrouping,
}

/// Reads how many checks ran.
pub trait UsageStore: Send + Sync + 'static {
    /// Returns the number of checks by plan code, type, or id of location or monitor, in this order.
    fn usage(&self, query: UsageQuery) -> StoreFuture<'_, Vec<(String, u64)>>;
}
