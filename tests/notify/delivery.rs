//! The delivery itself, over a scripted courier and a clock that is moved by hand.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vigie::clock::{Clock, FakeClock};
use vigie::domain::{Notification, NotificationKind, NotificationMethod, NotificationState, RecipientId};
use vigie::notify::{MessageRenderer, MessageSender, OutgoingMessage, Secret, SendError, SendFuture};
use vigie::pipeline::{
    DeliveryDependencies, DeliverySettings, DeliveryTask, Destination, DestinationLookup, Wakeup,
};
use vigie::store::StoreFuture;
use vigie::telemetry::Metrics;

use super::kit::{NOON, at, new, recipient};
use super::outbox::FakeOutbox;

type Script = Box<dyn Fn(&OutgoingMessage, usize) -> Result<(), SendError> + Send + Sync>;

/// Notes keys in the order in which they came; hangs for recipients in `hanging`.
struct Scripted {
    script: Script,
    hanging: Vec<i64>,
    came: Mutex<Vec<(String, i64)>>,
    clock: Arc<FakeClock>,
}

impl MessageSender for Scripted {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> SendFuture<'a> {
        Box::pin(async move {
            let seconds = self.clock.now().since(at(0)).as_secs();
            let before = {
                let mut came = self.came.lock().unwrap();
                let before = came.iter().filter(|(key, _)| *key == message.key).count();
                came.push((message.key.clone(), i64::try_from(seconds).unwrap()));
                before
            };
            if self.hanging.contains(&message.recipient.id.0) {
                std::future::pending::<()>().await;
            }
            (self.script)(message, before)
        })
    }
}

/// Recipients up to 90 are there; the others were removed.
struct Book;

impl DestinationLookup for Book {
    fn find<'a>(&'a self, message: &'a Notification) -> StoreFuture<'a, Option<Destination>> {
        let id = message.message.recipient.0;
        let to = Destination {
            recipient: recipient(id, NotificationMethod::JsonPost, &format!("http://host-{id}.test/")),
            secret: Secret::default(),
            template: None,
        };
        Box::pin(async move { Ok((id <= 90).then_some(to)) })
    }
}

struct Stage {
    outbox: Arc<FakeOutbox>,
    courier: Arc<Scripted>,
    clock: Arc<FakeClock>,
    metrics: Arc<Metrics>,
    wakeup: Wakeup,
    delivery: DeliveryTask,
}

fn stage(
    settings: DeliverySettings,
    hanging: &[i64],
    script: impl Fn(&OutgoingMessage, usize) -> Result<(), SendError> + Send + Sync + 'static,
) -> Stage {
    stage_over(Arc::default(), settings, hanging, script)
}

fn stage_over(
    outbox: Arc<FakeOutbox>,
    settings: DeliverySettings,
    hanging: &[i64],
    script: impl Fn(&OutgoingMessage, usize) -> Result<(), SendError> + Send + Sync + 'static,
) -> Stage {
    let clock = Arc::new(FakeClock::new(at(0)));
    let courier = Arc::new(Scripted {
        script: Box::new(script),
        hanging: hanging.to_vec(),
        came: Mutex::default(),
        clock: Arc::clone(&clock),
    });
    let (wakeup, metrics) = (Wakeup::default(), Arc::new(Metrics::new()));
    let dependencies = DeliveryDependencies {
        outbox: outbox.clone(),
        destinations: Arc::new(Book),
        renderer: Arc::new(MessageRenderer::default()),
        sender: courier.clone(),
        results: None,
        ledger: None,
        clock: clock.clone(),
        metrics: Arc::clone(&metrics),
    };
    let delivery = DeliveryTask::start(dependencies, settings, wakeup.clone());
    Stage { outbox, courier, clock, metrics, wakeup, delivery }
}

impl Stage {
    fn put(&self, key: &str, to: i64) -> i64 {
        let id = self.outbox.put(new(key, to, NotificationKind::SiteError, 0));
        self.wakeup.wake();
        id
    }

    fn came(&self) -> Vec<String> {
        self.courier.came.lock().unwrap().iter().map(|(key, _)| key.clone()).collect()
    }

    fn row(&self, id: i64) -> Notification {
        self.outbox.rows().into_iter().find(|row| row.id == id).unwrap()
    }

    /// Waits until `done`, letting time pass by `step` whenever the delivery is at rest.
    async fn until(&self, step: Duration, done: impl Fn(&Self) -> bool) {
        let end = tokio::time::Instant::now() + Duration::from_secs(20);
        while !done(self) {
            assert!(tokio::time::Instant::now() < end, "not in time: {:?}", self.outbox.rows());
            // The delivery sleeps by the clock only when it has nothing to do.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            if !step.is_zero() && self.clock.sleepers() > 0 && !done(self) {
                self.clock.advance(step);
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }
}

fn states(stage: &Stage, state: NotificationState) -> usize {
    stage.outbox.count(state)
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_message_goes_out_once_and_that_is_noted() {
    let stage = stage(DeliverySettings::default(), &[], |_, _| Ok(()));
    let id = stage.put("a", 1);
    stage.until(Duration::ZERO, |stage| states(stage, NotificationState::Sent) == 1).await;
    assert_eq!(stage.row(id).sent_at, Some(at(0)));
    stage.clock.advance(Duration::from_mins(10));
    stage.wakeup.wake();
    stage.delivery.drain(SECOND).await;
    assert_eq!(stage.courier.came.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_message_waits_for_its_time() {
    let stage = stage(DeliverySettings::default(), &[], |_, _| Ok(()));
    let mut later = new("later", 1, NotificationKind::SiteError, 0);
    later.not_before = at(5);
    stage.outbox.put(later);
    stage.wakeup.wake();
    stage.until(SECOND, |stage| states(stage, NotificationState::Sent) == 1).await;
    assert_eq!(stage.outbox.rows()[0].sent_at, Some(at(5)));
}

#[tokio::test]
async fn a_receiver_that_is_down_for_an_hour_gets_everything_in_order_and_once() {
    let settings = DeliverySettings { per_minute: 0, ..DeliverySettings::default() };
    let clock_at = Arc::new(Mutex::new(0_u64));
    let seen = Arc::clone(&clock_at);
    let stage = stage(settings, &[], move |_, _| {
        if *seen.lock().unwrap() < 3_600 { Err(SendError::transient("down")) } else { Ok(()) }
    });
    let ids: Vec<i64> = (0..5).map(|n| stage.put(&format!("key-{n}"), 1)).collect();
    stage
        .until(Duration::from_secs(5), |stage| {
            *clock_at.lock().unwrap() = stage.clock.now().since(at(0)).as_secs();
            states(stage, NotificationState::Sent) == 5
        })
        .await;
    let sent: Vec<_> = ids.iter().map(|id| stage.row(*id).sent_at.unwrap()).collect();
    assert!(sent.is_sorted(), "{sent:?}");
    assert!(sent.iter().all(|at| at.since(self::at(3_600)) < Duration::from_mins(7)), "{sent:?}");
    let came = stage.came();
    // Each of the five tries, hour long, with pauses of up to five minutes: not a flood.
    assert!(came.len() < 60, "{} tries", came.len());
    assert_eq!(came[came.len() - 5..], ["key-0", "key-1", "key-2", "key-3", "key-4"]);
    assert!(stage.row(ids[0]).attempts > 5 && stage.row(ids[0]).error == "down");
}

#[tokio::test]
async fn a_receiver_that_hangs_or_fails_holds_up_nobody_else() {
    let stage =
        stage(DeliverySettings { per_minute: 0, ..DeliverySettings::default() }, &[1], |message, _| {
            if message.recipient.id == RecipientId(2) { Err(SendError::transient("no")) } else { Ok(()) }
        });
    for n in 0..200 {
        for to in 1..=3 {
            stage.put(&format!("{to}-{n}"), to);
        }
    }
    stage.until(Duration::ZERO, |stage| states(stage, NotificationState::Sent) == 200).await;
    let mut tries = HashMap::<String, usize>::new();
    for key in stage.came() {
        *tries.entry(key.split('-').next().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!((tries["1"], tries["2"], tries["3"]), (1, 1, 200));
    // Shutting down does not wait for the one that hangs, and leaves its message for the next start.
    stage.delivery.drain(Duration::from_millis(50)).await;
    assert_eq!(stage.outbox.count(NotificationState::Pending), 400);
}

#[tokio::test]
async fn what_is_refused_for_good_is_a_dead_letter_at_once_and_the_next_one_goes_out() {
    let stage = stage(DeliverySettings::default(), &[], |message, _| {
        if message.key == "bad" { Err(SendError::permanent("no such address")) } else { Ok(()) }
    });
    let bad = stage.put("bad", 1);
    stage.put("good", 1);
    stage.until(Duration::ZERO, |stage| states(stage, NotificationState::Sent) == 1).await;
    let bad = stage.row(bad);
    assert_eq!((bad.state, bad.error.as_str()), (NotificationState::Dead, "no such address"));
    assert!(stage.metrics.encode().contains("vigie_notifications_total{outcome=\"dead\"} 1"));
}

#[tokio::test]
async fn a_message_is_given_up_after_its_time_and_says_why() {
    let settings = DeliverySettings { max_age: Duration::from_hours(2), ..DeliverySettings::default() };
    let stage = stage(settings, &[], |_, _| Err(SendError::transient("connection refused")));
    let id = stage.put("a", 1);
    stage.until(Duration::from_secs(20), |stage| states(stage, NotificationState::Dead) == 1).await;
    let row = stage.row(id);
    assert!(row.error.contains("after 2 h") && row.error.contains("connection refused"), "{}", row.error);
    let age = stage.clock.now().since(at(0));
    assert!(age >= Duration::from_hours(2) && age < Duration::from_mins(130), "{age:?}");
}

#[tokio::test]
async fn a_removed_recipient_is_a_dead_letter() {
    let stage = stage(DeliverySettings::default(), &[], |_, _| Ok(()));
    let id = stage.put("a", 91);
    stage.until(Duration::ZERO, |stage| states(stage, NotificationState::Dead) == 1).await;
    assert!(stage.row(id).error.contains("removed") && stage.came().is_empty());
}

#[tokio::test]
async fn ten_thousand_failures_of_one_minute_are_ten_messages_and_one_digest() {
    let outbox = Arc::new(FakeOutbox::default());
    for n in 0..10_000 {
        outbox.put(new(&format!("key-{n}"), 1, NotificationKind::SiteError, 0));
    }
    let stage = stage_over(outbox, DeliverySettings::default(), &[], |_, _| Ok(()));
    stage.until(SECOND, |stage| states(stage, NotificationState::Digested) == 9_990).await;
    assert_eq!(stage.came().len(), 11);
    let rows = stage.outbox.rows();
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
async fn what_was_held_back_before_a_restart_is_told_in_one_digest_after_it() {
    let outbox = Arc::new(FakeOutbox::default());
    for n in 0..30 {
        outbox.put(new(&format!("key-{n}"), 1, NotificationKind::SiteError, 0));
    }
    let first = stage_over(Arc::clone(&outbox), DeliverySettings::default(), &[], |_, _| Ok(()));
    first.until(Duration::ZERO, |stage| states(stage, NotificationState::Held) == 20).await;
    first.delivery.drain(SECOND).await;
    let second = stage_over(Arc::clone(&outbox), DeliverySettings::default(), &[], |_, _| Ok(()));
    second.until(SECOND, |stage| states(stage, NotificationState::Digested) == 20).await;
    assert_eq!(second.came(), ["digest-11-1"]);
}

#[tokio::test]
async fn while_the_store_is_in_trouble_nothing_is_sent_twice() {
    let stage = stage(DeliverySettings::default(), &[], |_, _| Ok(()));
    stage.put("a", 1);
    stage.until(Duration::ZERO, |stage| states(stage, NotificationState::Sent) == 1).await;
    // It breaks between the moment at which the message is taken and that at which this is noted.
    stage.courier.came.lock().unwrap().clear();
    let outbox = Arc::clone(&stage.outbox);
    let other = stage_over(Arc::clone(&stage.outbox), DeliverySettings::default(), &[], move |message, _| {
        outbox.broken.store(message.key == "b", Ordering::Relaxed);
        Ok(())
    });
    other.put("b", 2);
    other.until(SECOND, |stage| stage.clock.now() > at(30)).await;
    assert_eq!(other.came(), ["b"]);
    other.outbox.broken.store(false, Ordering::Relaxed);
    other.until(SECOND, |stage| states(stage, NotificationState::Sent) == 2).await;
    assert_eq!(other.came(), ["b"]);
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_stop_the_delivery() {
    let stage = stage(DeliverySettings::default(), &[], |_, before| {
        if before == 0 { Err(SendError::transient("no")) } else { Ok(()) }
    });
    stage.put("a", 1);
    stage.until(Duration::ZERO, |stage| stage.row(1).attempts == 1).await;
    stage.clock.set_wall_time(at(-7_200));
    let mut next = new("b", 1, NotificationKind::SiteError, -7_200);
    next.not_before = at(-7_200);
    stage.outbox.put(next);
    stage.wakeup.wake();
    stage
        .until(SECOND, |stage| stage.row(2).state == NotificationState::Sent || stage.row(2).attempts > 0)
        .await;
    assert!(stage.clock.now() < at(-7_000), "{}", stage.clock.now());
    assert_eq!(NOON % 60, 0);
}
