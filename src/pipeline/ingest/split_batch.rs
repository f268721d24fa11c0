//! Splits a batch that the store rejects, to find what it cannot write. Whatever belongs to one monitor stays in one
//! transaction for as long as possible.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::quarantine::QuarantinedItem;
use crate::domain::MonitorId;
use crate::store::{AlertChanges, IngestBatch};

/// A split batch.
pub(super) enum SplitBatch {
    /// Smaller batches, to be committed in this order.
    Parts(Vec<IngestBatch>),
    /// It has one item and cannot be split: that item, to be quarantined.
    Single(Vec<QuarantinedItem>),
}

/// Splits `batch` by monitor; the batch of one monitor into its single results, changes and states.
pub(super) fn split_batch(batch: &IngestBatch) -> SplitBatch {
    let monitor_ids: Vec<MonitorId> = monitor_ids(batch).into_iter().collect();
    if monitor_ids.len() > 1 {
        let middle = monitor_ids[monitor_ids.len() / 2];
        return SplitBatch::Parts(vec![
            select_monitors(batch, |id| id < middle),
            select_monitors(batch, |id| id >= middle),
        ]);
    }
    let single_item_batches = single_item_batches(batch);
    if single_item_batches.len() > 1 {
        return SplitBatch::Parts(single_item_batches);
    }
    SplitBatch::Single(to_quarantined_items(batch))
}

fn monitor_ids(batch: &IngestBatch) -> BTreeSet<MonitorId> {
    let changes = &batch.alert_changes;
    let results = batch.results.iter().map(|result| result.monitor_id);
    results
        .chain(batch.location_states.iter().map(|state| state.monitor_id))
        .chain(changes.alert_states.iter().map(|(monitor_id, _)| *monitor_id))
        .chain(changes.episodes.iter().map(|episode| episode.monitor_id))
        .chain(
            changes
                .notifications
                .iter()
                .map(|notification| monitor_id_or_zero(notification.content.monitor_id)),
        )
        .chain(changes.verified_checks.iter().map(|check| check.result_key.monitor_id))
        .chain(changes.checks_suppressed_by_dependency.iter().map(|check| check.result_key.monitor_id))
        .chain(changes.added_captures.iter().map(|capture| capture.result_key.monitor_id))
        .collect()
}

/// Notifications without a monitor go together.
fn monitor_id_or_zero(monitor_id: Option<MonitorId>) -> MonitorId {
    monitor_id.unwrap_or(MonitorId(0))
}

/// Returns what `batch` has of the selected monitors.
fn select_monitors(batch: &IngestBatch, is_selected: impl Fn(MonitorId) -> bool) -> IngestBatch {
    fn select<T: Clone>(items: &[T], is_selected: impl Fn(&T) -> bool) -> Vec<T> {
        items.iter().filter(|item| is_selected(item)).cloned().collect()
    }
    let changes = &batch.alert_changes;
    IngestBatch {
        results: select(&batch.results, |result| is_selected(result.monitor_id)),
        location_states: select(&batch.location_states, |state| is_selected(state.monitor_id)),
        alert_changes: AlertChanges {
            alert_states: select(&changes.alert_states, |(monitor_id, _)| is_selected(*monitor_id)),
            episodes: select(&changes.episodes, |episode| is_selected(episode.monitor_id)),
            notifications: select(&changes.notifications, |notification| {
                is_selected(monitor_id_or_zero(notification.content.monitor_id))
            }),
            verified_checks: select(&changes.verified_checks, |check| {
                is_selected(check.result_key.monitor_id)
            }),
            checks_suppressed_by_dependency: select(&changes.checks_suppressed_by_dependency, |check| {
                is_selected(check.result_key.monitor_id)
            }),
            added_captures: select(&changes.added_captures, |capture| {
                is_selected(capture.result_key.monitor_id)
            }),
        },
    }
}

/// Returns a batch for each result, then for each state, then for each change.
fn single_item_batches(batch: &IngestBatch) -> Vec<IngestBatch> {
    let batch_of_changes = |alert_changes| IngestBatch { alert_changes, ..IngestBatch::default() };
    let no_changes = AlertChanges::default;
    let changes = &batch.alert_changes;
    let mut parts = Vec::new();
    for result in &batch.results {
        parts.push(IngestBatch { results: vec![result.clone()], ..IngestBatch::default() });
    }
    for state in &batch.location_states {
        parts.push(IngestBatch { location_states: vec![state.clone()], ..IngestBatch::default() });
    }
    for state in &changes.alert_states {
        parts.push(batch_of_changes(AlertChanges { alert_states: vec![state.clone()], ..no_changes() }));
    }
    for episode in &changes.episodes {
        parts.push(batch_of_changes(AlertChanges { episodes: vec![episode.clone()], ..no_changes() }));
    }
    for notification in &changes.notifications {
        parts.push(batch_of_changes(AlertChanges {
            notifications: vec![notification.clone()],
            ..no_changes()
        }));
    }
    for check in &changes.verified_checks {
        parts.push(batch_of_changes(AlertChanges { verified_checks: vec![check.clone()], ..no_changes() }));
    }
    for check in &changes.checks_suppressed_by_dependency {
        parts.push(batch_of_changes(AlertChanges {
            checks_suppressed_by_dependency: vec![check.clone()],
            ..no_changes()
        }));
    }
    for capture in &changes.added_captures {
        parts.push(batch_of_changes(AlertChanges { added_captures: vec![capture.clone()], ..no_changes() }));
    }
    parts
}

/// Converts the only item of `batch` to what is quarantined.
fn to_quarantined_items(batch: &IngestBatch) -> Vec<QuarantinedItem> {
    let changes = &batch.alert_changes;
    let change = |monitor_id: MonitorId, change_kind: &str, body: Value| QuarantinedItem {
        kind: "change",
        id: format!("{change_kind}-{monitor_id}"),
        monitor_id: Some(monitor_id),
        error: String::new(),
        body,
    };
    let mut items: Vec<_> =
        batch.results.iter().map(|result| QuarantinedItem::from_result(result, String::new())).collect();
    items.extend(
        batch
            .location_states
            .iter()
            .map(|state| change(state.monitor_id, "state", json!(format!("{state:?}")))),
    );
    items.extend(changes.alert_states.iter().map(|(id, body)| change(*id, "alert-state", json!(body))));
    items.extend(changes.episodes.iter().map(|episode| {
        change(episode.monitor_id, "episode", Value::Object(episode.snapshot_fields.clone()))
    }));
    items.extend(changes.notifications.iter().map(|notification| {
        let monitor_id = monitor_id_or_zero(notification.content.monitor_id);
        change(monitor_id, "notification", json!({ "key": notification.idempotency_key }))
    }));
    items.extend(
        changes
            .verified_checks
            .iter()
            .map(|check| change(check.result_key.monitor_id, "verification", json!(check.verification))),
    );
    items.extend(
        changes
            .checks_suppressed_by_dependency
            .iter()
            .map(|check| change(check.result_key.monitor_id, "suppression", json!(check.suppressed_by))),
    );
    items.extend(changes.added_captures.iter().map(|capture| {
        change(capture.result_key.monitor_id, "capture", json!({ "name": capture.capture.name }))
    }));
    items
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use super::*;
    use crate::domain::{
        CheckMetadata, CheckResult, LocationId, MonitorType, Outcome, Revision, Status, Timestamp, Verdict,
    };

    fn result(monitor: i64, second: i64) -> CheckResult {
        let metadata = CheckMetadata {
            monitor_id: MonitorId(monitor),
            monitor_name: Arc::from("Shop"),
            revision: Revision(1),
            monitor_type: MonitorType::Tcp,
            location_id: LocationId(1),
        };
        let verdict =
            Verdict { outcome: Outcome::Ok, status: Status::OK, warning_status: None, reasons: Vec::new() };
        let at = Timestamp::from_seconds(1_800_000_000 + second);
        CheckResult::without_attempts(metadata, at, at, verdict)
    }

    fn alert_state(monitor: i64) -> AlertChanges {
        AlertChanges { alert_states: vec![(MonitorId(monitor), None)], ..AlertChanges::default() }
    }

    /// Splits until nothing can be split; returns the results in the order of their commits.
    fn commit_singly(batch: IngestBatch) -> (Vec<CheckResult>, usize) {
        let (mut parts, mut results, mut split_count) = (VecDeque::from([batch]), Vec::new(), 0);
        while let Some(part) = parts.pop_front() {
            split_count += 1;
            match split_batch(&part) {
                SplitBatch::Parts(smaller) => {
                    for part in smaller.into_iter().rev() {
                        parts.push_front(part);
                    }
                }
                SplitBatch::Single(items) => {
                    assert_eq!(items.len(), 1);
                    results.extend(part.results);
                }
            }
        }
        (results, split_count)
    }

    #[test]
    fn every_result_is_in_one_part_and_those_of_a_monitor_stay_in_order() {
        let results: Vec<_> = (0..200).map(|n| result(n % 7, n)).collect();
        let batch = IngestBatch { results, alert_changes: alert_state(3), ..IngestBatch::default() };
        let (committed, split_count) = commit_singly(batch);
        assert_eq!(committed.len(), 200);
        for monitor in 0..7 {
            let monitor_results = committed.iter().filter(|result| result.monitor_id == MonitorId(monitor));
            let times: Vec<_> = monitor_results.map(|result| result.planned_at).collect();
            assert!(times.len() >= 28 && times.is_sorted(), "{monitor}: {times:?}");
        }
        assert!(split_count < 230, "{split_count}");
    }

    #[test]
    fn changes_of_a_monitor_stay_with_its_results_for_as_long_as_possible() {
        let results = vec![result(1, 0), result(2, 0)];
        let batch = IngestBatch { results, alert_changes: alert_state(2), ..IngestBatch::default() };
        let SplitBatch::Parts(parts) = split_batch(&batch) else { panic!("it has two monitors") };
        let contents = parts.iter().map(|part| (part.results.len(), part.alert_changes.alert_states.len()));
        assert_eq!(contents.collect::<Vec<_>>(), [(1, 0), (1, 1)]);
        let SplitBatch::Parts(single) = split_batch(&parts[1]) else {
            panic!("it has a result and a change")
        };
        assert_eq!(single.len(), 2);
        let SplitBatch::Single(items) = split_batch(&single[1]) else { panic!("it has a change alone") };
        assert_eq!((items[0].kind, items[0].id.as_str()), ("change", "alert-state-2"));
    }
}
