//! What notifications contain: page changes, expiring certificates, traceroutes, failing steps and content views.

use std::time::Duration;

use serde_json::json;
use vigie::domain::{
    BrowserFacts, Certificate, CheckResult, ContentViewResult, HttpFacts, MonitorId, MonitorType,
    Notification, NotificationKind, Outcome, Status, StepResult, TlsFacts,
};
use vigie::store::ResultStore;

use crate::alerts::harness::{Harness, due_notifications, result, run, slot, until};

fn page(monitor: MonitorId, number: i64, bytes: u64) -> CheckResult {
    let mut result = result(monitor, 1, run(number), Outcome::Ok);
    result.monitor_type = MonitorType::Website;
    result.facts.http = Some(Box::new(HttpFacts {
        http_status: 200,
        http_version: "HTTP/1.1".to_owned(),
        body_bytes: bytes,
        body_wire_bytes: bytes,
        url: "https://shop.example.test/".to_owned(),
        ..HttpFacts::default()
    }));
    result
}

// row: 6 notify_on_content_change
#[tokio::test]
async fn a_page_change_is_notified_across_a_restart() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let fields = json!({"url": "https://anna:secret@shop.example.test/", "notify_on_content_change": true});
    let shop = harness.monitor(&[1], fields).await;
    harness.submit_results(1, vec![page(shop, 1, 500)]).await;
    harness.submit_results(2, vec![page(shop, 2, 500)]).await;
    let harness = harness.restart().await;
    harness.submit_results(3, vec![page(shop, 3, 777)]).await;
    harness.submit_results(4, vec![page(shop, 4, 777)]).await;
    harness.submit_outcome(shop, 5, Outcome::Error).await;
    harness.submit_results(6, vec![page(shop, 6, 777)]).await;
    let notifications = harness.notifications().await;
    let changes: Vec<_> = notifications
        .iter()
        .filter(|message| message.message.content.kind == NotificationKind::WebChange)
        .collect();
    assert_eq!(changes.len(), 1, "{:?}", harness.summaries().await);
    let content = &changes[0].message.content;
    assert_eq!((&content.extra["bytes_before"], &content.extra["bytes_now"]), (&json!(500), &json!(777)));
    assert_eq!(content.occurred_at, slot(shop, run(3)));
    assert_eq!(content.target, "https://shop.example.test/", "without a login");
    assert_eq!(content.http_status, Some(200));
}

#[tokio::test]
async fn an_expiring_certificate_is_notified_once_a_day() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let fields = json!({"url": "https://shop.example.test/", "check_ssl_expiration_dates": "Expiring"});
    let shop = harness.monitor(&[1], fields).await;
    let warned = |number: i64| {
        let mut result = page(shop, number, 500);
        result.outcome = Outcome::Warning;
        result.facts.tls = Some(Box::new(TlsFacts {
            certificates: vec![Certificate {
                subject: "CN=shop.example.test".to_owned(),
                issuer: "CN=Test CA".to_owned(),
                subject_alt_names: Vec::new(),
                not_before: run(-60 * 24 * 60),
                not_after: run(10 * 24 * 60),
                sha256: "ab".repeat(32),
            }],
            ..TlsFacts::default()
        }));
        result
    };
    for number in [1, 2, 3, 24 * 60, 24 * 60 + 1, 24 * 60 + 2] {
        harness.submit_results(number, vec![warned(number)]).await;
    }
    assert_eq!(
        harness.summaries().await,
        ["certificate_expiration of run 1, error 0", "certificate_expiration of run 1441, error 0"]
    );
    let content = harness.notifications().await.remove(0).message.content;
    assert_eq!(content.extra["certificate_days_left"], json!(9));
    assert_eq!(content.certificate["subject"], json!("CN=shop.example.test"));
}

// row: 2.1 traceroute_on_error
#[tokio::test]
async fn a_notification_waits_for_the_traceroute_which_is_stored_with_the_result() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    *harness.locations.traces_complete.lock().unwrap() = true;
    let shop = harness.monitor(&[1], json!({"traceroute_on_error": true})).await;
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    harness.wait_for(2).await;
    let check = result(shop, 1, run(1), Outcome::Error).check_id;
    until("the message waits no more", async || due_notifications(&harness).await.len() == 2).await;
    assert_eq!(due_notifications(&harness).await[0].message.content.kind, NotificationKind::SiteError);
    let notifications = harness.notifications().await;
    let kinds: Vec<_> = notifications.iter().map(|message| message.message.content.kind).collect();
    assert_eq!(kinds, [NotificationKind::SiteError, NotificationKind::Traceroute]);
    assert_eq!(notifications[1].message.content.extra["traceroute"], json!("1 gateway"));
    let file = harness.store.capture(check, "traceroute.txt".to_owned()).await.unwrap().unwrap();
    assert_eq!(file.content.as_deref(), Some(&b"1 gateway"[..]));
    let address = "192.0.2.7".parse().unwrap();
    assert_eq!(
        *harness.locations.trace_requests.lock().unwrap(),
        [(shop, vigie::domain::LocationId(1), Some(address))]
    );
    // Once per outage.
    harness.submit_outcome(shop, 2, Outcome::Error).await;
    assert_eq!(harness.locations.trace_requests.lock().unwrap().len(), 1);
    // And only where the monitor asks for it: the notification of another waits for nothing.
    let untraced = harness.monitor(&[1], json!({"traceroute_on_error": false})).await;
    harness.submit_outcome(untraced, 3, Outcome::Error).await;
    let is_about_untraced = |message: &Notification| message.message.content.monitor_id == Some(untraced);
    until("the other notification is due", async || {
        due_notifications(&harness).await.iter().any(is_about_untraced)
    })
    .await;
    assert_eq!(harness.locations.trace_requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_hanging_traceroute_delays_a_notification_by_five_seconds() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({"traceroute_on_error": true})).await;
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    assert_eq!(harness.notifications().await.len(), 1);
    assert_eq!(due_notifications(&harness).await.len(), 0);
    harness.clock.advance(Duration::from_secs(5));
    assert_eq!(due_notifications(&harness).await.len(), 1);
}

#[tokio::test]
async fn notifications_name_the_failing_step() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({"url": "https://shop.example.test/"})).await;
    let mut failed = result(shop, 1, run(1), Outcome::Error);
    failed.details.steps = [(1, "Log in", Status::OK), (3, "Pay", Status::CONNECT_FAILED)]
        .map(|(number, name, status)| StepResult { status, ..StepResult::new(number, name.to_owned(), 0) })
        .to_vec();
    harness.submit_results(1, vec![failed]).await;
    let notifications = harness.notifications().await;
    assert!(!notifications.is_empty(), "{:?}", harness.summaries().await);
    for message in &notifications {
        assert_eq!(message.message.content.failing_step, Some((3, "Pay".to_owned())));
    }
}

// row: 2.3 Content View.name
#[tokio::test]
async fn an_alert_names_the_trace_and_the_content_views_that_failed() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({"url": "https://shop.example.test/"})).await;
    let failed = |number: i64| {
        let mut result = result(shop, 1, run(number), Outcome::Error);
        result.details.browser = Some(Box::new(BrowserFacts {
            trace_id: Some("0123456789abcdef0123456789abcdef".to_owned()),
            ..BrowserFacts::default()
        }));
        let view = |id, status, notify_on_error| ContentViewResult {
            id,
            name: format!("View {id}"),
            status,
            notify_on_error,
            duration_us: 1,
            object_count: 1,
            decoded_bytes: 1,
            failures: Vec::new(),
        };
        result.details.content_views =
            vec![view(1, Status::OK, true), view(2, Status(7007), true), view(3, Status(7007), false)];
        result
    };
    harness.submit_results(1, vec![failed(1)]).await;
    harness.submit_results(2, vec![failed(2)]).await;
    let notifications = harness.notifications().await;
    let content = &notifications[0].message.content;
    assert_eq!(content.kind, NotificationKind::SiteError);
    assert_eq!(content.extra["trace_id"], "0123456789abcdef0123456789abcdef");
    let views: Vec<_> =
        content.extra["content_views"].as_array().unwrap().iter().map(|view| &view["name"]).collect();
    assert_eq!(views, ["View 2"]);
}
