//! What the alert engine takes beside results, and what it shows.

use crate::sync::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

use crate::alerting::MonitorHealth;
use crate::domain::{
    Capture, CheckId, EpisodeId, LocationId, MonitorId, NewNotification, RunId, Timestamp, Verification,
};
use crate::schema::Monitor;
use crate::store::ResultKey;

/// What the loop hears beside results.
pub(in crate::pipeline) enum Word {
    /// New versions of monitors, and removed ones.
    Changed { puts: Vec<Monitor>, removed: Vec<MonitorId> },
    /// What a second location said.
    Answered { monitor: MonitorId, planned_at: Timestamp, answer: Verification },
    /// A traceroute has ended; without a file when it came to none.
    Traced { result: ResultKey, file: Option<Capture>, messages: Vec<NewNotification> },
    /// Somebody acknowledged an outage.
    Acknowledged { monitor: MonitorId, episode: EpisodeId },
}

/// How monitors are, for those who show it. Those that are not in it were not heard of yet.
pub(in crate::pipeline) type Healths = Arc<RwLock<HashMap<MonitorId, MonitorHealth>>>;

/// The result of a check of `monitor`.
pub(super) fn key_of(monitor: MonitorId, planned_at: Timestamp, location: LocationId) -> ResultKey {
    let run = RunId::new(monitor, planned_at);
    ResultKey {
        check_id: CheckId::new(run, location),
        monitor_id: monitor,
        location_id: location,
        planned_at,
    }
}
