//! Alert states, outages, notifications, and what alerting adds to results.

use std::time::Duration;

use serde_json::json;
use vigie::domain::{
    CapturedFile, CheckResult, CustomerId, EpisodeId, LocationId, MonitorId, NotificationState, Outcome,
    Status, Timestamp, Verification,
};
use vigie::store::{
    AddedCapture, AlertChanges, AlertStore, CheckVerification, DeliveryOutcome, EpisodeFilter, IngestBatch,
    NotificationFilter, Pagination, ResultFilter, ResultKey, Retention, RollupSpan, StoredEpisode,
};

use crate::store::samples::{DAY, HOUR, at, commit_results, error, message, ok};
use crate::store::suite::Store;

const ALL: Pagination = Pagination { limit: 100, offset: 0 };

fn key(result: &CheckResult) -> ResultKey {
    ResultKey {
        check_id: result.check_id,
        monitor_id: result.monitor_id,
        location_id: result.location_id,
        planned_at: result.planned_at,
    }
}

fn episode(customer: i64, monitor: i64, since: Timestamp) -> StoredEpisode {
    StoredEpisode {
        id: EpisodeId::new(MonitorId(monitor), since),
        customer: CustomerId(customer),
        monitor_id: MonitorId(monitor),
        monitor_name: format!("Shop {monitor}"),
        started_at: since,
        ended_at: None,
        acknowledged_by: String::new(),
        acknowledged_at: None,
        snapshot_fields: json!({"runs": 1}).as_object().cloned().unwrap(),
    }
}

fn episodes(episodes: &[StoredEpisode]) -> AlertChanges {
    AlertChanges { episodes: episodes.to_vec(), ..AlertChanges::default() }
}

pub async fn alert_states_are_stored_replaced_and_removed(store: &impl Store) {
    let alert_state = |monitor, body: Option<&str>| (MonitorId(monitor), body.map(str::to_owned));
    let changes = |alert_states| AlertChanges { alert_states, ..AlertChanges::default() };
    let first = changes(vec![alert_state(1, Some("one")), alert_state(2, Some("two"))]);
    store.commit(IngestBatch { alert_changes: first, ..IngestBatch::default() }).await.unwrap();
    store
        .commit_alerts(changes(vec![alert_state(2, Some("2")), alert_state(1, None), alert_state(3, None)]))
        .await
        .unwrap();
    assert_eq!(AlertStore::alert_states(store).await.unwrap(), [(MonitorId(2), "2".to_owned())]);
}

pub async fn an_outage_is_updated_ended_and_found_by_filter(store: &impl Store) {
    let (mut first, second, others) = (episode(1, 1, at(0)), episode(1, 2, at(60)), episode(2, 3, at(30)));
    store.commit_alerts(episodes(&[first.clone(), second.clone(), others.clone()])).await.unwrap();
    first.snapshot_fields.insert("runs".to_owned(), json!(4));
    first.ended_at = Some(at(240));
    store.commit_alerts(episodes(std::slice::from_ref(&first))).await.unwrap();
    let found = async |filter: EpisodeFilter| store.episodes(filter, ALL).await.unwrap().items;
    let filter = EpisodeFilter { customer: Some(CustomerId(1)), ..EpisodeFilter::default() };
    assert_eq!(found(filter.clone()).await, [second.clone(), first.clone()]);
    assert_eq!(
        found(EpisodeFilter { is_open: Some(true), ..filter.clone() }).await,
        std::slice::from_ref(&second)
    );
    assert_eq!(
        found(EpisodeFilter { is_open: Some(false), ..filter.clone() }).await,
        std::slice::from_ref(&first)
    );
    assert_eq!(
        found(EpisodeFilter { monitor: Some(MonitorId(1)), ..filter.clone() }).await,
        std::slice::from_ref(&first)
    );
    assert_eq!(
        found(EpisodeFilter { from: Some(at(241)), ..filter.clone() }).await,
        std::slice::from_ref(&second)
    );
    assert_eq!(
        found(EpisodeFilter { until: Some(at(60)), ..filter.clone() }).await,
        std::slice::from_ref(&first)
    );
    let page = store.episodes(filter, Pagination { limit: 1, offset: 1 }).await.unwrap();
    assert_eq!((page.total, page.items), (2, vec![first]));
    assert_eq!(store.episode(CustomerId(2), others.id).await.unwrap(), Some(others.clone()));
    assert_eq!(store.episode(CustomerId(1), others.id).await.unwrap(), None, "another account's");
}

pub async fn an_outage_is_acknowledged_once_and_stays_acknowledged(store: &impl Store) {
    let mut outage = episode(1, 1, at(0));
    store.commit_alerts(episodes(std::slice::from_ref(&outage))).await.unwrap();
    let acknowledge = async |customer, login: &str| {
        store.acknowledge(CustomerId(customer), outage.id, login.to_owned(), at(90)).await.unwrap()
    };
    assert!(!acknowledge(2, "eve").await);
    assert!(acknowledge(1, "anna").await);
    assert!(!acknowledge(1, "bob").await);
    outage.ended_at = Some(at(120));
    store.commit_alerts(episodes(std::slice::from_ref(&outage))).await.unwrap();
    let stored = store.episode(CustomerId(1), outage.id).await.unwrap().unwrap();
    assert_eq!((stored.acknowledged_by.as_str(), stored.acknowledged_at), ("anna", Some(at(90))));
    assert_eq!(stored.ended_at, Some(at(120)));
    let ended = episode(1, 2, at(0));
    store.commit_alerts(episodes(&[StoredEpisode { ended_at: Some(at(9)), ..ended.clone() }])).await.unwrap();
    assert!(!store.acknowledge(CustomerId(1), ended.id, "anna".to_owned(), at(10)).await.unwrap());
}

pub async fn a_notification_with_a_known_key_is_dropped(store: &impl Store) {
    let failed = error(1, at(0));
    let first = message("site_error-1-7", 7, &failed, at(0));
    let changes =
        |new: &_| AlertChanges { notifications: vec![Clone::clone(new)], ..AlertChanges::default() };
    let commit = IngestBatch {
        results: vec![failed.clone()],
        alert_changes: changes(&first),
        ..IngestBatch::default()
    };
    store.commit(commit.clone()).await.unwrap();
    store.commit(commit).await.unwrap();
    store.commit_alerts(changes(&message("site_error-1-7", 7, &failed, at(50)))).await.unwrap();
    let stored = store.notifications(NotificationFilter::default(), ALL).await.unwrap();
    assert_eq!(stored.total, 1);
    assert_eq!((&stored.items[0].message, stored.items[0].state), (&first, NotificationState::Pending));
    // The same holds after it was sent.
    store.record_outcomes(vec![(stored.items[0].id, DeliveryOutcome::Sent)], at(1)).await.unwrap();
    let ids = store.enqueue(vec![first, message("test-1", 8, &failed, at(2))]).await.unwrap();
    assert_eq!(ids[0], stored.items[0].id);
    assert_eq!(store.due_notifications(at(99), 9, 9).await.unwrap().len(), 1);
    let filter =
        |recipient| NotificationFilter { recipient: Some(recipient), ..NotificationFilter::default() };
    assert_eq!(
        store.notifications(filter(vigie::domain::RecipientId(8)), ALL).await.unwrap().items[0].id,
        ids[1]
    );
}

fn verified(result: &CheckResult, status: Status) -> AlertChanges {
    let answer = Verification {
        status,
        location_id: Some(LocationId(2)),
        recheck_status: Some(Status::OK),
        completed_at: at(9),
    };
    AlertChanges {
        verified_checks: vec![CheckVerification { result_key: key(result), verification: answer }],
        ..AlertChanges::default()
    }
}

pub async fn a_refuted_error_becomes_a_warning(store: &impl Store) {
    let failed = error(1, at(0));
    let state = vigie::pipeline::next_monitor_state(None, &failed).unwrap();
    let commit =
        IngestBatch { results: vec![failed.clone()], location_states: vec![state], ..IngestBatch::default() };
    store.commit(commit).await.unwrap();
    store.roll_up(at(2 * HOUR)).await.unwrap();
    let changes = verified(&failed, Status::VERIFICATION_NO_ERROR);
    store.commit_alerts(changes.clone()).await.unwrap();
    store.commit_alerts(changes).await.unwrap();
    let stored = store.result(failed.check_id).await.unwrap().unwrap();
    assert_eq!((stored.outcome, stored.status), (Outcome::Warning, Status::OK));
    assert_eq!(stored.warning_status, Some(Status::CONNECT_FAILED));
    assert_eq!(stored.status_text, Status::OK.text());
    assert_eq!((stored.reasons, stored.attempts), (failed.reasons, failed.attempts));
    assert_eq!(stored.verification.unwrap().status, Status::VERIFICATION_NO_ERROR);
    let count = async |outcome| {
        let filter = ResultFilter { outcomes: vec![outcome], ..ResultFilter::default() };
        store.results(filter, ALL).await.unwrap().total
    };
    assert_eq!((count(Outcome::Error).await, count(Outcome::Warning).await), (0, 1));
    let state = store.location_states().await.unwrap().remove(0);
    assert_eq!((state.outcome, state.status, state.streak), (Outcome::Warning, Status::OK, 1));
    store.roll_up(at(2 * HOUR)).await.unwrap();
    let hour = store.rollups(MonitorId(1), RollupSpan::Hour, at(0), at(HOUR)).await.unwrap().remove(0);
    assert_eq!(hour.runs_by_outcome, [0, 1, 0, 0, 0, 0], "the hour was rolled up again");
}

pub async fn other_verification_statuses_leave_the_error(store: &impl Store) {
    let failed = error(1, at(0));
    // The verification comes in the transaction of its own result, as where two locations failed.
    let changes = verified(&failed, Status::VERIFICATION_CONFIRMED);
    store
        .commit(IngestBatch {
            results: vec![failed.clone()],
            alert_changes: changes,
            ..IngestBatch::default()
        })
        .await
        .unwrap();
    let stored = store.result(failed.check_id).await.unwrap().unwrap();
    assert_eq!((stored.outcome, stored.status), (Outcome::Error, failed.status));
    assert_eq!(stored.verification.unwrap().status, Status::VERIFICATION_CONFIRMED);
    // A verification of a result that does not exist is ignored.
    store.commit_alerts(verified(&error(2, at(0)), Status::VERIFICATION_NO_ERROR)).await.unwrap();
    assert_eq!(store.results(ResultFilter::default(), ALL).await.unwrap().total, 1);
}

pub async fn files_may_be_added_after_their_result(store: &impl Store) {
    let (failed, plain) = (error(1, at(0)), ok(2, at(0), 5));
    commit_results(store, vec![failed.clone(), plain.clone()]).await;
    let evidence = |result: &CheckResult, text: &str| AddedCapture {
        result_key: key(result),
        capture: CapturedFile::new("traceroute.txt", "text/plain", text.as_bytes()),
    };
    let files =
        vec![evidence(&failed, "1 gateway"), evidence(&plain, "1 router"), evidence(&error(9, at(0)), "")];
    store.commit_alerts(AlertChanges { added_captures: files, ..AlertChanges::default() }).await.unwrap();
    store
        .commit_alerts(AlertChanges {
            added_captures: vec![evidence(&failed, "other")],
            ..AlertChanges::default()
        })
        .await
        .unwrap();
    for (result, text) in [(&failed, "1 gateway"), (&plain, "1 router")] {
        let stored = store.result(result.check_id).await.unwrap().unwrap();
        assert_eq!(stored.captures.len(), 1);
        assert_eq!(stored.attempts, result.attempts);
        let file = store.capture(result.check_id, "traceroute.txt".to_owned()).await.unwrap().unwrap();
        assert_eq!(file.content.as_deref(), Some(text.as_bytes()));
    }
}

pub async fn retention_keeps_open_outages_and_pending_notifications(store: &impl Store) {
    let open = episode(1, 1, at(0));
    let ended = StoredEpisode { ended_at: Some(at(60)), ..episode(1, 2, at(0)) };
    let recent = StoredEpisode { ended_at: Some(at(HOUR)), ..episode(1, 3, at(0)) };
    store.commit_alerts(episodes(&[open.clone(), ended, recent.clone()])).await.unwrap();
    let failed = error(1, at(0));
    let ids = ["waits", "sent", "dead", "new"].map(|key| message(key, 1, &failed, at(0)));
    let ids = store.enqueue(ids.to_vec()).await.unwrap();
    let dead = DeliveryOutcome::Dead { error: String::new() };
    store.record_outcomes(vec![(ids[1], DeliveryOutcome::Sent), (ids[2], dead)], at(5)).await.unwrap();
    let days = |days: u64| Duration::from_hours(24 * days);
    let retention = Retention {
        results: days(1),
        details_ok: days(1),
        details_failed: days(1),
        hourly_rollups: days(400),
        daily_rollups: Some(days(400)),
        audit_entries: days(400),
    };
    store.apply_retention(retention, Timestamp::from_seconds(DAY + 24 * HOUR + 120)).await.unwrap();
    let left = store.episodes(EpisodeFilter::default(), ALL).await.unwrap().items;
    assert_eq!(left.len(), 2);
    assert!(left.contains(&open) && left.contains(&recent));
    let left = store.notifications(NotificationFilter::default(), ALL).await.unwrap().items;
    assert_eq!(left.iter().map(|message| message.id).collect::<Vec<_>>(), [ids[3], ids[0]]);
}
