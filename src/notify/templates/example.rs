//! Example content for trying out templates.

use serde_json::{Map, json};

use crate::domain::{
    CustomerId, EpisodeId, LocationId, LocationReport, MonitorId, MonitorType, NotificationContent,
    NotificationKind, Status, Timestamp,
};

/// Returns example content of `kind`.
pub(super) fn example_content(kind: NotificationKind) -> NotificationContent {
    // 2026-01-01 12:00 UTC.
    let at = Timestamp::from_seconds(1_767_268_800);
    let status = if kind.is_clear() { Status::OK } else { Status::HTTP_ERROR };
    let mut extra = Map::new();
    extra.insert("traceroute".to_owned(), json!(" 1  192.0.2.1  0.4 ms\n 2  198.51.100.7  3.1 ms\n"));
    NotificationContent {
        kind,
        customer: CustomerId::OPERATOR,
        account_name: "Example".to_owned(),
        brand: "Vigie".to_owned(),
        monitor_id: Some(MonitorId(1)),
        monitor_name: "Example monitor".to_owned(),
        monitor_type: Some(MonitorType::Website),
        episode_id: Some(EpisodeId(1)),
        check_id: None,
        occurred_at: at,
        outage_started_at: Some(Timestamp::from_seconds(1_767_268_500)),
        status,
        status_text: status.text().to_owned(),
        reasons: vec!["`503 Service Unavailable` from `https://www.example.org/`".to_owned()],
        consecutive_failures: if kind.is_clear() { 0 } else { 2 },
        http_status: Some(503),
        location_id: Some(LocationId(1)),
        location_name: "Example location".to_owned(),
        location_reports: vec![LocationReport {
            location_id: LocationId(1),
            name: "Example location".to_owned(),
            status: Some(status),
            status_text: status.text().to_owned(),
        }],
        verification: None,
        target: "https://www.example.org/".to_owned(),
        failing_step: Some((1, "Example step".to_owned())),
        alert_note: "Example note".to_owned(),
        properties: vec![("team".to_owned(), "example".to_owned())],
        phases: vec![("connect".to_owned(), 12_000), ("first_byte".to_owned(), 80_000)],
        certificate: json!({
            "subject": "CN=www.example.org",
            "issuer": "CN=Example CA",
            "not_after": "2026-02-01T00:00:00Z",
        }),
        extra,
    }
}
