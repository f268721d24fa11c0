//! Storage of active performance alerts.

use super::future::StoreFuture;
use super::stored_json::StoredJsonNames;
use crate::domain::{LocationId, NewNotification};

/// A performance alert that is active at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPerformanceAlert {
    /// Id of the alert.
    pub alert_id: i64,
    /// The location.
    pub location_id: LocationId,
    /// The state of the alert, as JSON.
    pub state_json: String,
}

/// Stores active performance alerts.
pub trait PerformanceAlertStore: StoredJsonNames {
    /// Returns all active alerts.
    fn active_alerts(&self) -> StoreFuture<'_, Vec<StoredPerformanceAlert>>;

    /// Stores raised alerts, deletes cleared ones and adds notifications; all or nothing. A notification whose key
    /// exists is dropped.
    fn commit_changes(
        &self,
        raised: Vec<StoredPerformanceAlert>,
        cleared: Vec<(i64, LocationId)>,
        notifications: Vec<NewNotification>,
    ) -> StoreFuture<'_, ()>;
}
