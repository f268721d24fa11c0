//! What is kept of performance alerts that are raised.

use super::error::Answer;
use crate::domain::{LocationId, NewNotification};

/// A performance alert that is raised at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRaised {
    /// Its number.
    pub alert: i64,
    /// Where.
    pub location: LocationId,
    /// The rest, as JSON.
    pub body: String,
}

/// Keeps which performance alerts are raised.
pub trait PerformanceStates: Send + Sync + 'static {
    /// All that are.
    fn raised(&self) -> Answer<'_, Vec<KeptRaised>>;

    /// Keeps those that were raised, forgets those that are over, and adds the messages that this makes; all of it
    /// or nothing. A message whose key is known is dropped.
    fn keep_raised(
        &self,
        raised: Vec<KeptRaised>,
        over: Vec<(i64, LocationId)>,
        notifications: Vec<NewNotification>,
    ) -> Answer<'_, ()>;
}
