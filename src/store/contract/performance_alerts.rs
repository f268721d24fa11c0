//! What is kept of performance alerts that are raised.

use super::future::StoreFuture;
use crate::domain::{LocationId, NewNotification};

/// A performance alert that is raised at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPerformanceAlert {
    /// Its number.
    pub alert: i64,
    /// Where.
    pub location: LocationId,
    /// The rest, as JSON.
    pub body: String,
}

/// Keeps which performance alerts are raised.
pub trait PerformanceAlertStore: Send + Sync + 'static {
    /// All that are.
    fn active(&self) -> StoreFuture<'_, Vec<StoredPerformanceAlert>>;

    /// Keeps those that were raised, forgets those that are over, and adds the messages that this makes; all of it
    /// or nothing. A message whose key is known is dropped.
    fn commit_changes(
        &self,
        raised: Vec<StoredPerformanceAlert>,
        over: Vec<(i64, LocationId)>,
        notifications: Vec<NewNotification>,
    ) -> StoreFuture<'_, ()>;
}
