//! The delivery over the real store: order, evidence, events, and what a new start finds.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vigie::clock::SystemClock;
use vigie::control::{AddressBook, Addressee, Bell, Delivery, DeliveryParts, DeliverySettings};
use vigie::model::{Method, NoticeKind, Notification, NotificationState, RecordKind};
use vigie::notify::{Composer, Courier, Message, Secret, SendError, Sending};
use vigie::store::{
    Answer, Ledger, NotificationFilter, Outbox, Page, RecordFilter, SqliteSettings, SqliteStore,
};
use vigie::telemetry::Metrics;

use super::kit::{new, recipient};

const ALL: Page = Page { limit: u32::MAX, offset: 0 };

struct Anybody;

impl AddressBook for Anybody {
    fn find<'a>(&'a self, message: &'a Notification) -> Answer<'a, Option<Addressee>> {
        let recipient = recipient(message.new.recipient.0, Method::JsonPost, "http://a.test/");
        Box::pin(async { Ok(Some(Addressee { recipient, secret: Secret::default(), template: None })) })
    }
}

/// Fails `failing` once or for good, takes everything else.
struct Moody {
    came: Mutex<Vec<String>>,
    failing: (&'static str, SendError),
}

impl Courier for Moody {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        let mut came = self.came.lock().unwrap();
        let is_first = !came.contains(&message.key);
        came.push(message.key.clone());
        let fails = is_first && message.key == self.failing.0;
        let outcome = if fails { Err(self.failing.1.clone()) } else { Ok(()) };
        Box::pin(async move { outcome })
    }
}

fn open(folder: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default()).unwrap())
}

fn deliver(store: &Arc<SqliteStore>, courier: &Arc<Moody>) -> Delivery {
    let parts = DeliveryParts {
        outbox: store.clone(),
        addresses: Arc::new(Anybody),
        composer: Arc::new(Composer::default()),
        courier: courier.clone(),
        results: Some(store.clone()),
        ledger: Some(store.clone()),
        clock: Arc::new(SystemClock),
        metrics: Arc::new(Metrics::new()),
    };
    let settings =
        DeliverySettings { first_pause: Duration::from_millis(100), ..DeliverySettings::default() };
    Delivery::start(parts, settings, Bell::default())
}

async fn states(store: &SqliteStore) -> Vec<(String, NotificationState)> {
    let all = store.notifications(NotificationFilter::default(), ALL).await.unwrap();
    let mut rows: Vec<_> = all.rows.into_iter().map(|row| (row.new.key, row.state)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

async fn settled(store: &SqliteStore) -> Vec<(String, NotificationState)> {
    let end = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let states = states(store).await;
        if states.iter().all(|(_, state)| *state != NotificationState::Pending) {
            return states;
        }
        assert!(tokio::time::Instant::now() < end, "{states:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn post(store: &SqliteStore, keys: &[&str]) {
    let now = jiff::Timestamp::now().as_second() - super::kit::NOON;
    let news = keys.iter().map(|key| new(key, 1, NoticeKind::SiteError, now - 1)).collect();
    store.post(news).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_tried_again_still_goes_before_those_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    post(&store, &["a-error", "b-clear", "c-error"]).await;
    let courier =
        Arc::new(Moody { came: Mutex::default(), failing: ("a-error", SendError::passing("down")) });
    let delivery = deliver(&store, &courier);
    settled(&store).await;
    assert_eq!(*courier.came.lock().unwrap(), ["a-error", "a-error", "b-clear", "c-error"]);
    delivery.drain(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn what_is_given_up_is_an_event_and_a_restart_tells_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    post(&store, &["a", "b"]).await;
    let courier =
        Arc::new(Moody { came: Mutex::default(), failing: ("a", SendError::lasting("no such hook")) });
    let delivery = deliver(&store, &courier);
    let expected = [("a".to_owned(), NotificationState::Dead), ("b".to_owned(), NotificationState::Sent)];
    assert_eq!(settled(&store).await, expected);
    delivery.drain(Duration::from_secs(1)).await;
    let events = store.records(RecordFilter::of(RecordKind::Event), ALL).await.unwrap().rows;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].text("event"), "notification_given_up");
    assert!(events[0].text("description").contains("`recipient 1`: no such hook"), "{:?}", events[0]);
    store.close().await;
    drop(store);
    let again = open(folder.path());
    let delivery = deliver(&again, &courier);
    delivery.drain(Duration::from_secs(1)).await;
    assert_eq!(courier.came.lock().unwrap().len(), 2);
}
