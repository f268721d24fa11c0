//! Sample contents, recipients and messages, and channels over loopback.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::clock::SystemClock;
use vigie::domain::{
    CustomerId, EgressPrincipal, EpisodeId, LocationId, LocationReport, MonitorId, MonitorType,
    NewNotification, NotificationContent, NotificationKind, NotificationMethod, Recipient, RecipientId,
    Status, Timestamp,
};
use vigie::net::{EgressPolicy, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::notify::{
    ChannelSettings, MessageRenderer, MessageSender, NotificationChannels, OutgoingMessage, Secret, SendError,
};

/// 2026-11-21 12:00 UTC.
pub const NOON: i64 = 1_795_262_400;

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(NOON + seconds)
}

pub fn sample_content(kind: NotificationKind) -> NotificationContent {
    let clear = kind.is_clear();
    let status = if clear { Status::OK } else { Status::HTTP_ERROR };
    NotificationContent {
        kind,
        customer: CustomerId(1),
        account_name: "Example & Sons".to_owned(),
        brand: "Vigie".to_owned(),
        monitor_id: Some(MonitorId(7)),
        monitor_name: "Shop \"front\" <page>".to_owned(),
        monitor_type: Some(MonitorType::Website),
        episode_id: Some(EpisodeId(4711)),
        check_id: None,
        occurred_at: at(0),
        outage_started_at: Some(at(-120)),
        status,
        status_text: status.text().to_owned(),
        reasons: if clear {
            Vec::new()
        } else {
            vec!["`503 Service Unavailable` from `http://shop.test/`".to_owned()]
        },
        consecutive_failures: if clear { 0 } else { 3 },
        http_status: (!clear).then_some(503),
        location_id: Some(LocationId(1)),
        location_name: "local".to_owned(),
        location_reports: vec![LocationReport {
            location_id: LocationId(1),
            name: "local".to_owned(),
            status: Some(status),
            status_text: status.text().to_owned(),
        }],
        verification: None,
        target: "http://shop.test/".to_owned(),
        failing_step: None,
        alert_note: "call the night desk".to_owned(),
        properties: vec![("team".to_owned(), "shop".to_owned())],
        phases: vec![
            ("resolve".to_owned(), 1_200),
            ("connect".to_owned(), 20_000),
            ("first_byte".to_owned(), 800),
        ],
        certificate: serde_json::Value::Null,
        extra: serde_json::Map::new(),
    }
}

pub fn recipient(id: i64, method: NotificationMethod, address: &str) -> Recipient {
    Recipient {
        id: RecipientId(id),
        name: format!("recipient {id}"),
        address: address.to_owned(),
        method,
        username: String::new(),
        gets_availability_alerts: true,
        gets_performance_alerts: false,
        notify_on_clear: true,
        start_threshold: 1,
        stop_threshold: 0,
        attach_screen_capture: false,
        attach_server_response: false,
        language: String::new(),
    }
}

pub fn new(key: &str, recipient_id: i64, kind: NotificationKind, created: i64) -> NewNotification {
    NewNotification {
        idempotency_key: key.to_owned(),
        recipient_id: RecipientId(recipient_id),
        group_id: None,
        content: sample_content(kind),
        created_at: at(created),
        not_before: at(created),
    }
}

/// Returns a message rendered by the built-in templates.
pub fn message(
    kind: NotificationKind,
    method: NotificationMethod,
    address: &str,
    secret: &str,
) -> OutgoingMessage {
    let sample_content = sample_content(kind);
    let rendered = MessageRenderer::default().render(&sample_content, method, None).unwrap();
    OutgoingMessage {
        idempotency_key: "site_error-4711-1795262400000000-1".to_owned(),
        content: sample_content,
        recipient: recipient(1, method, address),
        egress_principal: EgressPrincipal::Operator,
        credential: Secret(secret.to_owned()),
        subject: rendered.subject,
        text: rendered.text,
        html: rendered.html,
        json_body: rendered.json_body,
        attachments: Vec::new(),
    }
}

pub fn net(deny: &[&str]) -> Arc<Net> {
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let egress = EgressPolicy::parse(&[], deny).unwrap();
    Arc::new(
        Net::new(&NetConfig { trust_config: trust, egress_policy: egress, ..NetConfig::default() }).unwrap(),
    )
}

/// Returns channels over loopback, with attempts of at most two seconds.
pub fn channels(deny: &[&str]) -> NotificationChannels {
    NotificationChannels::new(net(deny), Arc::new(SystemClock), settings())
}

pub fn settings() -> ChannelSettings {
    ChannelSettings { attempt_timeout: Duration::from_secs(2), ..ChannelSettings::default() }
}

pub async fn send(message: &OutgoingMessage) -> Result<(), SendError> {
    channels(&[]).send(message).await
}

#[test]
fn a_secret_is_in_no_debug_output() {
    let message = message(NotificationKind::Test, NotificationMethod::JsonPost, "http://a.test/", "s3cret");
    assert!(!format!("{message:?}").contains("s3cret"));
    assert_eq!(json!(message.content.kind), "test");
}
