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
pub(in crate::pipeline) enum IngestCommand {
    /// New versions of monitors, and removed ones.
    UpdateMonitors { upserts: Vec<Monitor>, removed: Vec<MonitorId> },
    /// What a second location said.
    VerificationDone { monitor: MonitorId, planned_at: Timestamp, answer: Verification },
    /// A traceroute has ended; without a file when it came to none.
    TracerouteDone { result: ResultKey, file: Option<Capture>, messages: Vec<NewNotification> },
    /// Somebody acknowledged an outage.
    AcknowledgeEpisode { monitor: MonitorId, episode: EpisodeId },
}

/// How monitors are, for those who show it. Those that are not in it were not heard of yet.
pub(in crate::pipeline) type HealthMap = Arc<RwLock<HashMap<MonitorId, MonitorHealth>>>;

/// The result of a check of `monitor`.
pub(super) fn result_key(monitor: MonitorId, planned_at: Timestamp, location: LocationId) -> ResultKey {
    let run = RunId::new(monitor, planned_at);
    ResultKey {
        check_id: CheckId::new(run, location),
        monitor_id: monitor,
        location_id: location,
        planned_at,
    }
}
