//! Delivery over the real store: order, attached files, events, and restarts.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vigie::clock::SystemClock;
use vigie::domain::{
    CapturedFile, CheckId, CheckResult, ConfigRecordKind, Facts, LocationId, MonitorId, MonitorType,
    Notification, NotificationKind, NotificationMethod, NotificationState, Outcome, Revision, RunId, Status,
};
use vigie::notify::{MessageRenderer, MessageSender, OutgoingMessage, Secret, SendError, SendFuture};
use vigie::pipeline::{
    DeliveryDependencies, DeliveryHandle, DeliverySettings, DeliveryWakeup, Destination, DestinationLookup,
};
use vigie::store::{
    ConfigRecordFilter, ConfigStore, Ingest, IngestBatch, NotificationFilter, Outbox, Pagination,
    SqliteSettings, SqliteStore, StoreFuture,
};
use vigie::telemetry::Metrics;

use super::samples::{new, recipient};

const ALL: Pagination = Pagination::ALL;

/// Recipients from 10 on get mail; even ones with screenshots, those from 20 on with the response of the target.
struct FakeDestinations;

impl DestinationLookup for FakeDestinations {
    fn find_method<'a>(&'a self, message: &'a Notification) -> StoreFuture<'a, Option<NotificationMethod>> {
        Box::pin(async move { Ok(self.find(message).await?.map(|found| found.recipient.method)) })
    }

    fn find<'a>(&'a self, message: &'a Notification) -> StoreFuture<'a, Option<Destination>> {
        let id = message.message.recipient_id.0;
        let method = if id < 10 { NotificationMethod::JsonPost } else { NotificationMethod::MailHtml };
        let mut recipient = recipient(id, method, "http://a.test/");
        recipient.attach_screen_capture = id % 2 == 0;
        recipient.attach_server_response = id >= 20;
        Box::pin(async { Ok(Some(Destination { recipient, secret: Secret::default(), template: None })) })
    }
}

/// Fails the first attempt of the message `failing` with its error and accepts everything else.
struct FailingSender {
    attempts: Mutex<Vec<String>>,
    files: Mutex<Vec<(i64, Vec<String>, bool)>>,
    failing: (&'static str, SendError),
}

impl MessageSender for FailingSender {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> SendFuture<'a> {
        let names = message.attachments.iter().map(|file| file.name.clone()).collect();
        let traced = message.text.contains("192.0.2.1  0.4 ms");
        self.files.lock().unwrap().push((message.recipient.id.0, names, traced));
        let mut attempts = self.attempts.lock().unwrap();
        let is_first = !attempts.contains(&message.idempotency_key);
        attempts.push(message.idempotency_key.clone());
        let fails = is_first && message.idempotency_key == self.failing.0;
        let outcome = if fails { Err(self.failing.1.clone()) } else { Ok(()) };
        Box::pin(async move { outcome })
    }
}

fn failing_sender(key: &'static str, error: SendError) -> Arc<FailingSender> {
    Arc::new(FailingSender { attempts: Mutex::default(), files: Mutex::default(), failing: (key, error) })
}

fn open(folder: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default()).unwrap())
}

fn start_delivery(store: &Arc<SqliteStore>, sender: &Arc<FailingSender>) -> DeliveryHandle {
    let dependencies = DeliveryDependencies {
        outbox: store.clone(),
        destination_lookup: Arc::new(FakeDestinations),
        renderer: Arc::new(MessageRenderer::default()),
        sender: sender.clone(),
        result_store: Some(store.clone()),
        config_store: Some(store.clone()),
        clock: Arc::new(SystemClock),
        metrics: Arc::new(Metrics::new()),
    };
    let settings =
        DeliverySettings { initial_retry_delay: Duration::from_millis(100), ..DeliverySettings::default() };
    DeliveryHandle::start(dependencies, settings, DeliveryWakeup::default())
}

async fn states(store: &SqliteStore) -> Vec<(String, NotificationState)> {
    let all = store.notifications(NotificationFilter::default(), ALL).await.unwrap();
    let mut rows: Vec<_> =
        all.items.into_iter().map(|row| (row.message.idempotency_key, row.state)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

async fn final_states(store: &SqliteStore) -> Vec<(String, NotificationState)> {
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

async fn enqueue_all(store: &SqliteStore, keys: &[&str]) {
    let now = jiff::Timestamp::now().as_second() - super::samples::NOON;
    let notifications = keys.iter().map(|key| new(key, 1, NotificationKind::SiteError, now - 1)).collect();
    store.enqueue(notifications).await.unwrap();
}

#[tokio::test]
async fn a_retried_message_is_still_sent_before_later_ones() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    enqueue_all(&store, &["a-error", "b-clear", "c-error"]).await;
    let sender = failing_sender("a-error", SendError::transient("down"));
    let delivery = start_delivery(&store, &sender);
    final_states(&store).await;
    assert_eq!(*sender.attempts.lock().unwrap(), ["a-error", "a-error", "b-clear", "c-error"]);
    delivery.drain(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn a_dead_notification_is_an_event_and_a_restart_sends_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    enqueue_all(&store, &["a", "b"]).await;
    let sender = failing_sender("a", SendError::permanent("no such hook"));
    let delivery = start_delivery(&store, &sender);
    let expected = [("a".to_owned(), NotificationState::Dead), ("b".to_owned(), NotificationState::Sent)];
    assert_eq!(final_states(&store).await, expected);
    delivery.drain(Duration::from_secs(1)).await;
    let events = store.records(ConfigRecordFilter::new(ConfigRecordKind::Event), ALL).await.unwrap().items;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].fields["event"].as_str().unwrap(), "notification_given_up");
    assert!(
        events[0].fields["description"].as_str().unwrap().contains("`recipient 1`: no such hook"),
        "{:?}",
        events[0]
    );
    store.close().await;
    drop(store);
    let reopened = open(folder.path());
    let delivery = start_delivery(&reopened, &sender);
    delivery.drain(Duration::from_secs(1)).await;
    assert_eq!(sender.attempts.lock().unwrap().len(), 2);
}

/// Returns a failed check with a screenshot, a response head and a traceroute.
fn result() -> CheckResult {
    let planned_at = super::samples::at(0);
    let run_id = RunId::new(MonitorId(7), planned_at);
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id: MonitorId(7),
        monitor_name: Arc::from("shop"),
        revision: Revision(1),
        monitor_type: MonitorType::Website,
        location_id: LocationId(1),
        planned_at,
        started_at: planned_at,
        outcome: Outcome::Error,
        status: Status::HTTP_ERROR,
        warning_status: None,
        status_text: String::new(),
        reasons: Vec::new(),
        duration_us: 40_000,
        address: None,
        attempts: Vec::new(),
        facts: Facts::default(),
        details: vigie::domain::CheckDetails::default(),
        captures: vec![
            CapturedFile::new("screen-1.png", "image/png", b"not really"),
            CapturedFile::new("response-head.txt", "text/plain", b"HTTP/1.1 503"),
            CapturedFile::new("traceroute.txt", "text/plain", b" 1  192.0.2.1  0.4 ms\n"),
        ],
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed: None,
    }
}

#[tokio::test]
async fn files_of_the_check_are_attached_to_mail_as_the_recipient_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let result = result();
    let check = result.check_id;
    store.commit(IngestBatch { results: vec![result], ..IngestBatch::default() }).await.unwrap();
    let now = jiff::Timestamp::now().as_second() - super::samples::NOON;
    let to = |id: i64| {
        let mut message = new(&format!("to-{id}"), id, NotificationKind::SiteError, now - 1);
        message.content.check_id = Some(check);
        message
    };
    store.enqueue([2, 11, 12, 21].map(to).to_vec()).await.unwrap();
    let sender = failing_sender("none", SendError::transient(""));
    let delivery = start_delivery(&store, &sender);
    final_states(&store).await;
    delivery.drain(Duration::from_secs(1)).await;
    let mut files = sender.files.lock().unwrap().clone();
    files.sort();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected = [
        (2, names(&[]), false),
        (11, names(&["traceroute.txt"]), true),
        (12, names(&["screen-1.png", "traceroute.txt"]), true),
        (21, names(&["response-head.txt", "traceroute.txt"]), true),
    ];
    assert_eq!(files, expected);
}
