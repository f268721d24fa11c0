//! What the store gets: episodes, suppressed checks, missed runs at offline locations. Also finds results by check.

use std::collections::HashMap;

use super::command::result_key;
use crate::alerting::EpisodeSnapshot;
use crate::domain::{CheckId, CheckResult, LocationId, MissedReason, MissedRuns, MonitorId, Timestamp};
use crate::schema::Monitor;
use crate::store::{CheckSuppression, StoredEpisode};
use crate::syntax::json_object::into_object;

/// Converts `change` of an episode of `monitor` to its stored form.
#[must_use]
pub fn episode_record(monitor: &Monitor, change: &EpisodeSnapshot) -> StoredEpisode {
    // Serialization cannot fail: all map keys are strings.
    let body = serde_json::to_value(change).unwrap_or_default();
    StoredEpisode {
        id: change.id,
        customer: monitor.customer,
        monitor_id: monitor.id,
        monitor_name: monitor.name().to_owned(),
        started_at: change.since,
        ended_at: change.end.map(|end| end.ended_at),
        acknowledged_by: String::new(),
        acknowledged_at: None,
        snapshot_fields: into_object(body),
    }
}

/// Ends `episode` at `at` without recovery, since its monitor or its alert state no longer exists.
pub(super) fn ended_episode_record(mut episode: StoredEpisode, at: Timestamp) -> StoredEpisode {
    let end = crate::alerting::EpisodeEnd { ended_at: at, is_recovery: false };
    episode.ended_at = Some(at);
    episode.snapshot_fields.insert("end".to_owned(), serde_json::to_value(end).unwrap_or_default());
    episode
}

/// Builds the missed result of a run of `monitor` at `location`, which is offline.
pub(super) fn missed_result(
    monitor: &Monitor,
    location: LocationId,
    planned_at: Timestamp,
    now: Timestamp,
) -> CheckResult {
    let missed =
        MissedRuns { reason: MissedReason::LocationOffline, run_count: 1, last_planned_at: planned_at };
    CheckResult::from_missed_runs(monitor.check_metadata(location), planned_at, now.max(planned_at), missed)
}

/// Returns the records of the suppressed checks of a run.
pub(super) fn suppressed_checks(
    monitor_id: MonitorId,
    planned_at: Timestamp,
    locations: &[LocationId],
    suppressed_by: &[MonitorId],
) -> impl Iterator<Item = CheckSuppression> {
    locations.iter().map(move |location| CheckSuppression {
        result_key: result_key(monitor_id, planned_at, *location),
        suppressed_by: suppressed_by.to_vec(),
    })
}

/// Indexes results by check id.
pub(super) fn results_by_check(results: &[CheckResult]) -> HashMap<CheckId, &CheckResult> {
    results.iter().map(|result| (result.check_id, result)).collect()
}
