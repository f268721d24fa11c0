//! The outbox: due, failed, held and dead notifications.

use std::time::Duration;

use vigie::domain::{CustomerId, NewNotification, Notification, NotificationState, RecipientId, Timestamp};
use vigie::store::{DeliveryOutcome, NotificationFilter, Pagination};

use crate::store::samples::{at, error, message};
use crate::store::suite::Store;

/// Returns a notification about the failure of `monitor` that waits until `not_before`.
fn waiting(key: &str, recipient: i64, monitor: i64, not_before: Timestamp) -> NewNotification {
    NewNotification { not_before, ..message(key, recipient, &error(monitor, at(0)), at(0)) }
}

async fn due(store: &impl Store, now: Timestamp, max: u32, each: u32) -> Vec<String> {
    store
        .due_notifications(now, max, each)
        .await
        .unwrap()
        .into_iter()
        .map(|message| message.message.idempotency_key)
        .collect()
}

async fn one(store: &impl Store, id: i64) -> Notification {
    let filter = NotificationFilter { id: Some(id), ..NotificationFilter::default() };
    store.notifications(filter, Pagination { limit: 2, offset: 0 }).await.unwrap().items.remove(0)
}

pub async fn due_notifications_are_oldest_first_and_limited_per_recipient(store: &impl Store) {
    let new = (0..5).map(|n| waiting(&format!("a{n}"), 1, 1, at(10 - n)));
    let other = [waiting("b0", 2, 1, at(9)), waiting("b1", 2, 1, at(90))];
    let ids = store.enqueue(new.chain(other).collect()).await.unwrap();
    assert_eq!(ids.len(), 7);
    assert_eq!(store.next_due().await.unwrap(), Some(at(6)));
    assert_eq!(due(store, at(5), 9, 9).await, [""; 0]);
    assert_eq!(due(store, at(8), 9, 9).await, ["a4", "a3", "a2"]);
    assert_eq!(due(store, at(50), 9, 9).await, ["a4", "a3", "a2", "a1", "b0", "a0"]);
    // The oldest of each recipient come first, so that a failed one that waits is not overtaken.
    assert_eq!(due(store, at(50), 9, 2).await, ["a1", "b0", "a0"], "a slow receiver holds up nobody else");
    assert_eq!(due(store, at(50), 2, 9).await, ["a4", "a3"]);
    let expected = waiting("a4", 1, 1, at(6));
    assert_eq!(store.due_notifications(at(6), 1, 1).await.unwrap()[0].message, expected);
}

pub async fn delivery_outcomes_set_the_state_of_a_notification(store: &impl Store) {
    let ids = store.enqueue((0..4).map(|n| waiting(&n.to_string(), 1, 1, at(0))).collect()).await.unwrap();
    let failed = DeliveryOutcome::RetryScheduled { error: "it is down".to_owned(), next_attempt_at: at(60) };
    let dead = DeliveryOutcome::Dead { error: "no such address".to_owned() };
    let ended = vec![(ids[0], DeliveryOutcome::Sent), (ids[1], failed.clone()), (ids[2], dead), (99, failed)];
    store.record_outcomes(ended, at(5)).await.unwrap();
    let sent = one(store, ids[0]).await;
    assert_eq!((sent.state, sent.attempts, sent.sent_at), (NotificationState::Sent, 1, Some(at(5))));
    let failed = one(store, ids[1]).await;
    assert_eq!(
        (failed.state, failed.attempts, failed.next_attempt_at),
        (NotificationState::Pending, 1, at(60))
    );
    assert_eq!(failed.error, "it is down");
    let dead = one(store, ids[2]).await;
    assert_eq!((dead.state, dead.error.as_str()), (NotificationState::Dead, "no such address"));
    assert_eq!(due(store, at(59), 9, 9).await, ["3"]);
    assert_eq!(due(store, at(60), 9, 9).await, ["3", "1"]);
    // A final state does not change any more.
    let late = DeliveryOutcome::RetryScheduled { error: "late".to_owned(), next_attempt_at: at(60) };
    store.record_outcomes(vec![(ids[0], late.clone()), (ids[2], late)], at(70)).await.unwrap();
    assert_eq!(one(store, ids[0]).await, sent);
    assert_eq!(one(store, ids[2]).await, dead);
    store.record_outcomes(vec![(ids[1], DeliveryOutcome::Sent)], at(80)).await.unwrap();
    let sent = one(store, ids[1]).await;
    assert_eq!((sent.state, sent.attempts, sent.error.as_str()), (NotificationState::Sent, 2, ""));
}

pub async fn releasing_a_check_makes_its_notifications_due(store: &impl Store) {
    let new = vec![
        waiting("first", 1, 1, at(5)),
        waiting("tried", 2, 1, at(0)),
        waiting("of another check", 1, 2, at(5)),
    ];
    let ids = store.enqueue(new).await.unwrap();
    let failed = DeliveryOutcome::RetryScheduled { error: String::new(), next_attempt_at: at(30) };
    store.record_outcomes(vec![(ids[1], failed)], at(1)).await.unwrap();
    store.make_due_for_check(error(1, at(0)).check_id, at(2)).await.unwrap();
    assert_eq!(due(store, at(2), 9, 9).await, ["first"]);
    assert_eq!(one(store, ids[1]).await.next_attempt_at, at(30), "its pause is for its receiver");
    store.make_due_for_check(error(2, at(0)).check_id, at(7)).await.unwrap();
    assert_eq!(one(store, ids[2]).await.next_attempt_at, at(5), "nothing is put off");
}

pub async fn held_notifications_are_sent_with_a_digest(store: &impl Store) {
    let new = ["a", "b", "c"].map(|key| waiting(key, 7, 1, at(0))).to_vec();
    let ids = store.enqueue(new).await.unwrap();
    store.record_outcomes(ids.iter().map(|id| (*id, DeliveryOutcome::Held)).collect(), at(1)).await.unwrap();
    assert_eq!(due(store, at(9), 9, 9).await, [""; 0]);
    assert_eq!(store.next_due().await.unwrap(), None);
    assert_eq!(store.recipients_with_held().await.unwrap(), [RecipientId(7)]);
    let held = store.held_notifications(RecipientId(7), 2).await.unwrap();
    assert_eq!(
        held.iter().map(|message| message.message.idempotency_key.as_str()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(held[0].attempts, 0);
    let digest = store.enqueue(vec![waiting("digest", 7, 1, at(1))]).await.unwrap()[0];
    let ended = held.iter().map(|message| (message.id, DeliveryOutcome::Digested(digest)));
    store.record_outcomes(ended.collect(), at(2)).await.unwrap();
    let digested = one(store, ids[0]).await;
    assert_eq!((digested.state, digested.digest_id), (NotificationState::Digested, Some(digest)));
    assert_eq!(digested.sent_at, Some(at(2)));
    assert_eq!(store.held_notifications(RecipientId(7), 9).await.unwrap().len(), 1);
    // The third is released, and what went out with the digest is not.
    let released = ids.iter().map(|id| (*id, DeliveryOutcome::Released)).collect();
    store.record_outcomes(released, at(5)).await.unwrap();
    let third = one(store, ids[2]).await;
    assert_eq!((third.state, third.next_attempt_at), (NotificationState::Pending, at(5)));
    assert_eq!(one(store, ids[0]).await.state, NotificationState::Digested);
}

pub async fn only_its_account_can_retry_a_dead_notification(store: &impl Store) {
    let ids = store.enqueue(vec![waiting("a", 1, 1, at(0)), waiting("b", 1, 1, at(0))]).await.unwrap();
    let now = at(0) + Duration::from_hours(30);
    let retry = async |customer, id| store.retry_dead(CustomerId(customer), id, now).await.unwrap();
    assert!(!retry(1, ids[0]).await, "it is not given up");
    let dead = DeliveryOutcome::Dead { error: "refused".to_owned() };
    store.record_outcomes(vec![(ids[0], dead)], at(9)).await.unwrap();
    assert!(!retry(2, ids[0]).await, "it is another account's");
    assert!(retry(1, ids[0]).await);
    let retried = one(store, ids[0]).await;
    assert_eq!(
        (retried.state, retried.attempts, retried.next_attempt_at),
        (NotificationState::Pending, 0, now)
    );
    assert_eq!(retried.message.not_before, now, "its age counts from here");
    assert!(!retry(1, 12_345).await);
}
