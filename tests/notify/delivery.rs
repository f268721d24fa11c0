//! The delivery task, with a scripted sender and a fake clock.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vigie::clock::{Clock, FakeClock};
use vigie::domain::{Notification, NotificationKind, NotificationMethod, NotificationState, RecipientId};
use vigie::notify::{MessageRenderer, MessageSender, OutgoingMessage, Secret, SendError, SendFuture};
use vigie::pipeline::{
    DeliveryDependencies, DeliveryHandle, DeliverySettings, DeliveryWakeup, Destination, DestinationLookup,
};
use vigie::store::{DeliveryOutcome, Outbox, StoreFuture};
use vigie::telemetry::Metrics;

use super::outbox::FakeOutbox;
use super::samples::{NOON, at, new, recipient};

type Script = Box<dyn Fn(&OutgoingMessage, usize) -> Result<(), SendError> + Send + Sync>;

/// Records the keys of all attempts in order, with the second of each; hangs for recipients in `hanging`.
struct ScriptedSender {
    script: Script,
    hanging: Vec<i64>,
    attempts: Mutex<Vec<(String, i64)>>,
    clock: Arc<FakeClock>,
}

impl MessageSender for ScriptedSender {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> SendFuture<'a> {
        Box::pin(async move {
            let seconds = self.clock.now().since(at(0)).as_secs();
            let before = {
                let mut attempts = self.attempts.lock().unwrap();
                let before = attempts.iter().filter(|(key, _)| *key == message.idempotency_key).count();
                attempts.push((message.idempotency_key.clone(), i64::try_from(seconds).unwrap()));
                before
            };
            if self.hanging.contains(&message.recipient.id.0) {
                std::future::pending::<()>().await;
            }
            (self.script)(message, before)
        })
    }
}

/// Recipients up to 90 exist; the others were removed. [`PERSON`] and [`OTHER_PERSON`] get mail, the others JSON.
struct FakeDestinations;

const PERSON: i64 = 50;
const OTHER_PERSON: i64 = 51;

fn method(recipient: i64) -> NotificationMethod {
    if [PERSON, OTHER_PERSON].contains(&recipient) {
        NotificationMethod::MailText
    } else {
        NotificationMethod::JsonPost
    }
}

impl DestinationLookup for FakeDestinations {
    fn find_method<'a>(&'a self, message: &'a Notification) -> StoreFuture<'a, Option<NotificationMethod>> {
        let id = message.message.recipient_id.0;
        Box::pin(async move { Ok((id <= 90).then_some(method(id))) })
    }

    fn find<'a>(&'a self, message: &'a Notification) -> StoreFuture<'a, Option<Destination>> {
        let id = message.message.recipient_id.0;
        let to = Destination {
            recipient: recipient(id, method(id), &format!("http://host-{id}.test/")),
            secret: Secret::default(),
            template: None,
        };
        Box::pin(async move { Ok((id <= 90).then_some(to)) })
    }
}

struct Harness {
    outbox: Arc<FakeOutbox>,
    sender: Arc<ScriptedSender>,
    clock: Arc<FakeClock>,
    metrics: Arc<Metrics>,
    wakeup: DeliveryWakeup,
    delivery: DeliveryHandle,
}

fn harness(
    settings: DeliverySettings,
    hanging: &[i64],
    script: impl Fn(&OutgoingMessage, usize) -> Result<(), SendError> + Send + Sync + 'static,
) -> Harness {
    harness_over(Arc::default(), settings, hanging, script)
}

fn harness_over(
    outbox: Arc<FakeOutbox>,
    settings: DeliverySettings,
    hanging: &[i64],
    script: impl Fn(&OutgoingMessage, usize) -> Result<(), SendError> + Send + Sync + 'static,
) -> Harness {
    let clock = Arc::new(FakeClock::new(at(0)));
    let sender = Arc::new(ScriptedSender {
        script: Box::new(script),
        hanging: hanging.to_vec(),
        attempts: Mutex::default(),
        clock: Arc::clone(&clock),
    });
    let (wakeup, metrics) = (DeliveryWakeup::default(), Arc::new(Metrics::new()));
    let dependencies = DeliveryDependencies {
        outbox: outbox.clone(),
        destination_lookup: Arc::new(FakeDestinations),
        renderer: Arc::new(MessageRenderer::default()),
        sender: sender.clone(),
        result_store: None,
        config_store: None,
        clock: clock.clone(),
        metrics: Arc::clone(&metrics),
    };
    let delivery = DeliveryHandle::start(dependencies, settings, wakeup.clone());
    Harness { outbox, sender, clock, metrics, wakeup, delivery }
}

impl Harness {
    fn put(&self, key: &str, to: i64) -> i64 {
        let id = self.outbox.put(new(key, to, NotificationKind::SiteError, 0));
        self.wakeup.wake();
        id
    }

    fn attempts(&self) -> Vec<String> {
        self.sender.attempts.lock().unwrap().iter().map(|(key, _)| key.clone()).collect()
    }

    fn row(&self, id: i64) -> Notification {
        self.outbox.rows().into_iter().find(|row| row.id == id).unwrap()
    }

    /// Waits until `done` returns true, and advances the clock by `step` whenever the delivery is idle.
    async fn until(&self, step: Duration, done: impl Fn(&Self) -> bool) {
        let end = tokio::time::Instant::now() + Duration::from_secs(20);
        while !done(self) {
            assert!(tokio::time::Instant::now() < end, "not in time: {:?}", self.outbox.first_rows(20));
            // The delivery sleeps on the clock only when it has nothing to do.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            if !step.is_zero() && self.clock.sleeper_count() > 0 && !done(self) {
                self.clock.advance(step);
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }
}

fn states(harness: &Harness, state: NotificationState) -> usize {
    harness.outbox.count(state)
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_message_is_sent_once_and_recorded_as_sent() {
    let harness = harness(DeliverySettings::default(), &[], |_, _| Ok(()));
    let id = harness.put("a", 1);
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 1).await;
    assert_eq!(harness.row(id).sent_at, Some(at(0)));
    harness.clock.advance(Duration::from_mins(10));
    harness.wakeup.wake();
    harness.delivery.drain(SECOND).await;
    assert_eq!(harness.sender.attempts.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_message_is_not_sent_before_its_time() {
    let harness = harness(DeliverySettings::default(), &[], |_, _| Ok(()));
    let mut later = new("later", 1, NotificationKind::SiteError, 0);
    later.not_before = at(5);
    harness.outbox.put(later);
    harness.wakeup.wake();
    harness.until(SECOND, |harness| states(harness, NotificationState::Sent) == 1).await;
    assert_eq!(harness.outbox.rows()[0].sent_at, Some(at(5)));
}

#[tokio::test]
async fn a_receiver_that_is_down_for_an_hour_gets_each_message_once_in_order() {
    let settings = DeliverySettings { max_per_minute: 0, ..DeliverySettings::default() };
    let clock_at = Arc::new(Mutex::new(0_u64));
    let clock_in_script = Arc::clone(&clock_at);
    let harness = harness(settings, &[], move |_, _| {
        if *clock_in_script.lock().unwrap() < 3_600 { Err(SendError::transient("down")) } else { Ok(()) }
    });
    let ids: Vec<i64> = (0..5).map(|n| harness.put(&format!("key-{n}"), 1)).collect();
    harness
        .until(Duration::from_secs(5), |harness| {
            *clock_at.lock().unwrap() = harness.clock.now().since(at(0)).as_secs();
            states(harness, NotificationState::Sent) == 5
        })
        .await;
    let sent: Vec<_> = ids.iter().map(|id| harness.row(*id).sent_at.unwrap()).collect();
    assert!(sent.is_sorted(), "{sent:?}");
    assert!(sent.iter().all(|at| at.since(self::at(3_600)) < Duration::from_mins(7)), "{sent:?}");
    let attempts = harness.attempts();
    // The five are retried for an hour, with pauses of up to five minutes: not a flood.
    assert!(attempts.len() < 60, "{} tries", attempts.len());
    assert_eq!(attempts[attempts.len() - 5..], ["key-0", "key-1", "key-2", "key-3", "key-4"]);
    assert!(harness.row(ids[0]).attempts > 5 && harness.row(ids[0]).error == "down");
}

#[tokio::test]
async fn a_receiver_that_hangs_or_fails_delays_no_other() {
    let harness =
        harness(DeliverySettings { max_per_minute: 0, ..DeliverySettings::default() }, &[1], |message, _| {
            if message.recipient.id == RecipientId(2) { Err(SendError::transient("no")) } else { Ok(()) }
        });
    for n in 0..200 {
        for to in 1..=3 {
            harness.put(&format!("{to}-{n}"), to);
        }
    }
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 200).await;
    let mut attempt_counts = HashMap::<String, usize>::new();
    for key in harness.attempts() {
        *attempt_counts.entry(key.split('-').next().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!((attempt_counts["1"], attempt_counts["2"], attempt_counts["3"]), (1, 1, 200));
    // The shutdown does not wait for the receiver that hangs; its message stays for the next start.
    harness.delivery.drain(Duration::from_millis(50)).await;
    assert_eq!(harness.outbox.count(NotificationState::Pending), 400);
}

#[tokio::test]
async fn a_permanent_error_is_a_dead_letter_and_the_next_message_is_sent() {
    let harness = harness(DeliverySettings::default(), &[], |message, _| {
        if message.idempotency_key == "bad" { Err(SendError::permanent("no such address")) } else { Ok(()) }
    });
    let refused = harness.put("bad", 1);
    harness.put("good", 1);
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 1).await;
    let refused = harness.row(refused);
    assert_eq!((refused.state, refused.error.as_str()), (NotificationState::Dead, "no such address"));
    assert!(harness.metrics.encode().contains("vigie_notifications_total{outcome=\"dead\"} 1"));
}

#[tokio::test]
async fn a_message_is_dead_after_its_maximum_age_with_the_last_error() {
    let settings = DeliverySettings { max_age: Duration::from_hours(2), ..DeliverySettings::default() };
    let harness = harness(settings, &[], |_, _| Err(SendError::transient("connection refused")));
    let id = harness.put("a", 1);
    harness.until(Duration::from_secs(20), |harness| states(harness, NotificationState::Dead) == 1).await;
    let row = harness.row(id);
    assert!(row.error.contains("after 2 h") && row.error.contains("connection refused"), "{}", row.error);
    let age = harness.clock.now().since(at(0));
    assert!(age >= Duration::from_hours(2) && age < Duration::from_mins(130), "{age:?}");
}

#[tokio::test]
async fn a_removed_recipient_is_a_dead_letter() {
    let harness = harness(DeliverySettings::default(), &[], |_, _| Ok(()));
    let id = harness.put("a", 91);
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Dead) == 1).await;
    assert!(harness.row(id).error.contains("removed") && harness.attempts().is_empty());
}

#[tokio::test]
async fn ten_thousand_failures_in_one_minute_are_ten_messages_and_one_digest() {
    let outbox = Arc::new(FakeOutbox::default());
    for n in 0..10_000 {
        outbox.put(new(&format!("key-{n}"), PERSON, NotificationKind::SiteError, 0));
    }
    let harness = harness_over(outbox, DeliverySettings::default(), &[], |_, _| Ok(()));
    harness.until(SECOND, |harness| states(harness, NotificationState::Digested) == 9_990).await;
    assert_eq!(harness.attempts().len(), 11);
    let rows = harness.outbox.rows();
    let digest = rows.last().unwrap();
    assert_eq!(
        (digest.message.content.kind, digest.state),
        (NotificationKind::Digest, NotificationState::Sent)
    );
    assert!(
        digest.message.content.status_text.starts_with("9990 messages were held back: 9990 × Site Error")
    );
    assert_eq!(digest.message.content.reasons.len(), 51);
    let of_digest = |row: &&Notification| row.digest_id == Some(digest.id);
    assert_eq!(rows.iter().filter(of_digest).count(), 9_990);
    assert!(digest.sent_at.unwrap().since(at(0)) <= Duration::from_secs(62), "{:?}", digest.sent_at);
}

#[tokio::test]
async fn notifications_held_before_a_restart_are_sent_in_one_digest_after_it() {
    let outbox = Arc::new(FakeOutbox::default());
    for n in 0..30 {
        outbox.put(new(&format!("key-{n}"), PERSON, NotificationKind::SiteError, 0));
    }
    let first = harness_over(Arc::clone(&outbox), DeliverySettings::default(), &[], |_, _| Ok(()));
    first.until(Duration::ZERO, |harness| states(harness, NotificationState::Held) == 20).await;
    first.delivery.drain(SECOND).await;
    let second = harness_over(Arc::clone(&outbox), DeliverySettings::default(), &[], |_, _| Ok(()));
    second.until(SECOND, |harness| states(harness, NotificationState::Digested) == 20).await;
    assert_eq!(second.attempts(), ["digest-11-50"]);
}

/// Puts 11 errors and their 11 clears for `to`, and returns what was sent once nothing waits any more.
async fn send_eleven_outages(to: i64) -> Vec<String> {
    let outbox = Arc::new(FakeOutbox::default());
    for kind in [NotificationKind::SiteError, NotificationKind::SiteClear] {
        for n in 0..11 {
            outbox.put(new(&format!("{}-{n}", kind.name()), to, kind, 0));
        }
    }
    let harness = harness_over(outbox, DeliverySettings::default(), &[], |_, _| Ok(()));
    let ended = |state| states(&harness, state);
    let done = |_: &Harness| ended(NotificationState::Pending) + ended(NotificationState::Held) == 0;
    harness.until(SECOND, done).await;
    assert_eq!(ended(NotificationState::Sent), 22);
    harness.attempts()
}

#[tokio::test]
async fn clears_are_never_held_back_and_a_digest_is_never_of_one_message() {
    let sent = send_eleven_outages(PERSON).await;
    let kind_count = |kind: &str| sent.iter().filter(|key| key.starts_with(kind)).count();
    assert_eq!((kind_count("site_error"), kind_count("site_clear"), kind_count("digest")), (11, 11, 0));
    assert_eq!(
        sent.last().unwrap(),
        "site_error-10",
        "it waited for the limit, the clears did not: {sent:?}"
    );
}

#[tokio::test]
async fn a_program_gets_every_event_alone_and_in_order() {
    let sent = send_eleven_outages(1).await;
    let expected: Vec<String> = ["site_error", "site_clear"]
        .iter()
        .flat_map(|kind| (0..11).map(move |n| format!("{kind}-{n}")))
        .collect();
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn reloaded_limits_apply_to_the_next_messages() {
    let limited = DeliverySettings { max_per_minute: 1, ..DeliverySettings::default() };
    let harness = harness(limited, &[], |_, _| Ok(()));
    harness.put("first", PERSON);
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 1).await;
    let unlimited = DeliverySettings { max_per_minute: 0, ..DeliverySettings::default() };
    harness.delivery.settings_sender().send_replace(unlimited);
    for n in 0..5 {
        harness.put(&format!("key-{n}"), PERSON);
    }
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 6).await;
    assert_eq!(states(&harness, NotificationState::Held), 0);
}

/// The recipient was reached by mail when its messages were held back, or an earlier version held them back.
#[tokio::test]
async fn what_was_held_back_for_a_program_is_sent_without_a_digest() {
    let outbox = Arc::new(FakeOutbox::default());
    let held: Vec<i64> =
        (0..3).map(|n| outbox.put(new(&format!("key-{n}"), 1, NotificationKind::SiteError, 0))).collect();
    let outcomes = held.iter().map(|id| (*id, DeliveryOutcome::Held)).collect();
    outbox.record_outcomes(outcomes, at(0)).await.unwrap();
    outbox.put(new("digest", 1, NotificationKind::Digest, 0));
    let harness = harness_over(outbox, DeliverySettings::default(), &[], |_, _| Ok(()));
    harness.until(SECOND, |harness| states(harness, NotificationState::Sent) == 3).await;
    assert_eq!(harness.attempts(), ["key-0", "key-1", "key-2"]);
    let digest = harness.row(4);
    assert_eq!(digest.state, NotificationState::Dead);
    assert!(digest.error.contains("one by one"), "{}", digest.error);
}

#[tokio::test]
async fn a_clear_held_back_by_an_earlier_version_is_sent_alone() {
    let outbox = Arc::new(FakeOutbox::default());
    let kinds = [NotificationKind::SiteError, NotificationKind::SiteClear, NotificationKind::SiteError];
    let held: Vec<i64> =
        (0..3).map(|n| outbox.put(new(&format!("key-{n}"), OTHER_PERSON, kinds[n], 0))).collect();
    let outcomes = held.iter().map(|id| (*id, DeliveryOutcome::Held)).collect();
    outbox.record_outcomes(outcomes, at(0)).await.unwrap();
    let harness = harness_over(outbox, DeliverySettings::default(), &[], |_, _| Ok(()));
    harness.until(SECOND, |harness| states(harness, NotificationState::Digested) == 2).await;
    let mut sent = harness.attempts();
    sent.sort();
    assert_eq!(sent, ["digest-1-51", "key-1"]);
}

#[tokio::test]
async fn while_the_store_fails_nothing_is_sent_twice() {
    let harness = harness(DeliverySettings::default(), &[], |_, _| Ok(()));
    harness.put("a", 1);
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 1).await;
    // The store fails after the message was sent and before that is recorded.
    harness.sender.attempts.lock().unwrap().clear();
    let outbox = Arc::clone(&harness.outbox);
    let other =
        harness_over(Arc::clone(&harness.outbox), DeliverySettings::default(), &[], move |message, _| {
            outbox.broken.store(message.idempotency_key == "b", Ordering::Relaxed);
            Ok(())
        });
    other.put("b", 2);
    other.until(SECOND, |harness| harness.clock.now() > at(30)).await;
    assert_eq!(other.attempts(), ["b"]);
    other.outbox.broken.store(false, Ordering::Relaxed);
    other.until(SECOND, |harness| states(harness, NotificationState::Sent) == 2).await;
    assert_eq!(other.attempts(), ["b"]);
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_stop_the_delivery() {
    let harness = harness(DeliverySettings::default(), &[], |_, before| {
        if before == 0 { Err(SendError::transient("no")) } else { Ok(()) }
    });
    harness.put("a", 1);
    harness.until(Duration::ZERO, |harness| harness.row(1).attempts == 1).await;
    harness.clock.set_wall_time(at(-7_200));
    let mut next = new("b", 1, NotificationKind::SiteError, -7_200);
    next.not_before = at(-7_200);
    harness.outbox.put(next);
    harness.wakeup.wake();
    harness
        .until(SECOND, |harness| {
            harness.row(2).state == NotificationState::Sent || harness.row(2).attempts > 0
        })
        .await;
    assert!(harness.clock.now() < at(-7_000), "{}", harness.clock.now());
    assert_eq!(NOON % 60, 0);
}

#[tokio::test]
async fn the_end_of_the_delivery_is_bounded_while_thousands_are_held_and_a_receiver_hangs() {
    let harness = harness(DeliverySettings::default(), &[2], |_, _| Ok(()));
    harness.put("hangs", 2);
    let held = (0..30_000).map(|n| new(&format!("held-{n}"), PERSON, NotificationKind::SiteError, 0));
    harness.outbox.put_new(held);
    harness.wakeup.wake();
    harness.until(Duration::ZERO, |harness| states(harness, NotificationState::Sent) == 10).await;
    let started = tokio::time::Instant::now();
    harness.delivery.drain(SECOND).await;
    let took = started.elapsed();
    assert!(took < SECOND * 4, "took {took:?}");
    let (sent, held) = (harness.outbox.count(NotificationState::Sent), harness.outbox.rows().len());
    assert_eq!((sent, held), (10, 30_001), "nothing is lost: the next start sends one digest");
}
