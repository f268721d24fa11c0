//! What the store gets: outages, and runs that were missed because a location was away.

use std::collections::HashMap;

use crate::alerting::EpisodeChange;
use crate::catalog::json_object::into_object;
use crate::domain::{CheckId, CheckMetadata, CheckResult, LocationId, MissedReason, MissedRuns, Timestamp};
use crate::schema::Monitor;
use crate::store::StoredEpisode;

/// `change` of an outage of `monitor`, as it is kept.
pub(super) fn episode_record(monitor: &Monitor, change: &EpisodeChange) -> StoredEpisode {
    // Writes without fail: string keys, no foreign maps.
    let body = serde_json::to_value(change).unwrap_or_default();
    StoredEpisode {
        id: change.id,
        customer: monitor.customer,
        monitor_id: monitor.id,
        monitor_name: monitor.name().to_owned(),
        since: change.since,
        ended_at: change.end.map(|end| end.at),
        acknowledged_by: String::new(),
        acknowledged_at: None,
        body: into_object(body),
    }
}

/// `kept`, ended at `at` without a good run: its monitor is gone, or what was remembered of it.
pub(super) fn end_episode_record(mut stored: StoredEpisode, at: Timestamp) -> StoredEpisode {
    let end = crate::alerting::EpisodeEnd { at, recovered: false };
    stored.ended_at = Some(at);
    stored.body.insert("end".to_owned(), serde_json::to_value(end).unwrap_or_default());
    stored
}

/// The run of `monitor` that `location`, which is away, did not check.
pub(super) fn missed_result(
    monitor: &Monitor,
    location: LocationId,
    planned_at: Timestamp,
    now: Timestamp,
) -> CheckResult {
    let of = CheckMetadata {
        monitor_id: monitor.id,
        monitor_name: monitor.name().into(),
        revision: monitor.revision,
        monitor_type: monitor.monitor_type(),
        location_id: location,
    };
    let missed = MissedRuns { reason: MissedReason::LocationAway, slots: 1, last_planned_at: planned_at };
    CheckResult::missed(of, planned_at, now.max(planned_at), missed)
}

/// Results by their ids.
pub(super) fn results_by_check(results: &[CheckResult]) -> HashMap<CheckId, &CheckResult> {
    results.iter().map(|result| (result.check_id, result)).collect()
}
