//! Commands to the ingest loop, most of them for the alert engine; and the health that the engine publishes.

use crate::sync::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

use super::settings::AlertEngineSettings;
use crate::alerting::MonitorHealth;
use crate::domain::{
    CapturedFile, CheckId, EpisodeId, LocationId, MonitorId, NewNotification, RunId, Timestamp, Verification,
};
use crate::schema::Monitor;
use crate::store::ResultKey;

/// A command to the ingest loop.
pub(in crate::pipeline) enum IngestCommand {
    /// Monitors were changed or removed.
    UpdateMonitors { upserts: Vec<Monitor>, removed: Vec<MonitorId> },
    /// Another location has verified a failure.
    VerificationDone { monitor_id: MonitorId, planned_at: Timestamp, verification: Verification },
    /// A monitor that others depend on was checked outside of its schedule.
    ParentChecked { parent: MonitorId, outcome: ParentCheckResult },
    /// A traceroute has ended; without a file when it failed.
    TracerouteDone {
        result_key: ResultKey,
        output_file: Option<CapturedFile>,
        notifications: Vec<NewNotification>,
    },
    /// Captures of a committed result have arrived.
    AddCaptures { result_key: ResultKey, files: Vec<CapturedFile> },
    /// The settings were reloaded.
    UpdateSettings(AlertEngineSettings),
    /// Someone acknowledged an episode.
    AcknowledgeEpisode { monitor_id: MonitorId, episode_id: EpisodeId },
}

impl IngestCommand {
    /// Returns the captures that it adds, if it is for that.
    pub(in crate::pipeline) fn added_captures(&self) -> Option<&[CapturedFile]> {
        match self {
            Self::AddCaptures { files, .. } => Some(files),
            _ => None,
        }
    }
}

/// The outcome of a check of a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct ParentCheckResult {
    /// When the check started; a pass does not answer runs that were planned later.
    pub(super) started_at: Timestamp,
    pub(super) has_failed: bool,
}

impl ParentCheckResult {
    /// Nothing is known, which suppresses nothing. Answers every run.
    pub(super) const UNKNOWN: Self = Self { started_at: Timestamp::from_micros(i64::MAX), has_failed: false };
}

/// Published health of the monitors. A monitor without an entry has had no input yet.
pub(in crate::pipeline) type HealthMap = Arc<RwLock<HashMap<MonitorId, MonitorHealth>>>;

/// Returns the key of a check of `monitor_id`.
pub(super) fn result_key(monitor_id: MonitorId, planned_at: Timestamp, location_id: LocationId) -> ResultKey {
    let run = RunId::new(monitor_id, planned_at);
    ResultKey { check_id: CheckId::new(run, location_id), monitor_id, location_id, planned_at }
}
