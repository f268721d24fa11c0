//! Example content of notifications: for test notifications and previews of templates.

use serde_json::{Map, Value, json};

use super::account_cache::AccountSnapshot;
use super::monitor_description::{custom_properties, display_target};
use crate::domain::{
    CheckId, EpisodeId, LocationId, LocationReport, MonitorId, MonitorType, NotificationContent,
    NotificationKind, RunId, Status, Timestamp,
};
use crate::schema::Monitor;
use crate::syntax::json_object::into_object;

/// Returns example content of `kind` about `monitor`, or about an invented monitor.
pub(crate) fn example_notification(
    account: &AccountSnapshot,
    kind: NotificationKind,
    monitor: Option<&Monitor>,
    now: Timestamp,
) -> NotificationContent {
    let monitor_id = monitor.map_or(MonitorId(1), |monitor| monitor.id);
    let location_pool = monitor
        .map_or_else(|| account.default_location_ids.clone(), |monitor| account.location_pool_ids(monitor));
    let location = LocationId(location_pool.first().copied().unwrap_or(1));
    let location_name =
        account.locations.get(&location.0).map(|location| location.name.clone()).unwrap_or_default();
    let (status, reasons) = example_status_and_reasons(kind);
    let is_error = matches!(kind, NotificationKind::SiteError | NotificationKind::HostagentError);
    let report = LocationReport {
        location_id: location,
        name: location_name.clone(),
        status: Some(status),
        status_text: status.text().to_owned(),
    };
    NotificationContent {
        kind,
        customer: account.customer_id,
        account_name: account.name.clone(),
        brand: account.brand.clone(),
        monitor_id: monitor.map(|monitor| monitor.id),
        monitor_name: monitor.map_or("Example monitor", Monitor::name).to_owned(),
        monitor_type: Some(monitor.map_or(MonitorType::Website, Monitor::monitor_type)),
        episode_id: is_error.then(|| EpisodeId::new(monitor_id, now)),
        check_id: (kind != NotificationKind::Test && kind != NotificationKind::Digest)
            .then(|| CheckId::new(RunId::new(monitor_id, now), location)),
        occurred_at: now,
        outage_started_at: is_error.then_some(now),
        status,
        status_text: status.text().to_owned(),
        reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        consecutive_failures: if kind == NotificationKind::NoData { 5 } else { u32::from(is_error) },
        http_status: None,
        location_id: Some(location),
        location_name,
        location_reports: vec![report],
        verification: None,
        target: monitor.map_or_else(|| "http://example.com/".to_owned(), display_target),
        failing_step: None,
        alert_note: monitor.map(|monitor| monitor.document.alert_note().to_owned()).unwrap_or_default(),
        properties: monitor.map(|monitor| custom_properties(monitor, account)).unwrap_or_default(),
        phases: vec![("resolve".to_owned(), 1_200), ("connect".to_owned(), 18_000)],
        certificate: Value::Null,
        extra: example_extra_fields(kind, now),
    }
}

/// Returns a plausible status and reasons for `kind`.
fn example_status_and_reasons(kind: NotificationKind) -> (Status, &'static [&'static str]) {
    match kind {
        NotificationKind::SiteError | NotificationKind::Traceroute => (Status(1), &["connection refused"]),
        NotificationKind::HostagentError => (Status(4040), &["disk 97 % full"]),
        NotificationKind::CertificateExpiration => (Status(5), &["the certificate expires in 10 days"]),
        NotificationKind::NoData => (Status(21), &["no data from the last 5 runs"]),
        NotificationKind::PerformanceError => (Status(0), &["mean of 15 minutes 2.400 s, threshold 1.500 s"]),
        NotificationKind::WebChange => (Status(0), &["the page changed from 10240 to 9800 bytes"]),
        NotificationKind::Test => (Status(0), &["This is a test. Nothing is wrong."]),
        NotificationKind::Digest => (Status(0), &["2 messages were held back"]),
        NotificationKind::SiteClear
        | NotificationKind::NoDataClear
        | NotificationKind::PerformanceClear
        | NotificationKind::HostagentClear => (Status(0), &[]),
    }
}

/// Returns additional fields of the kind.
fn example_extra_fields(kind: NotificationKind, now: Timestamp) -> Map<String, Value> {
    let details = match kind {
        NotificationKind::PerformanceError | NotificationKind::PerformanceClear => {
            json!({"mean_us": 2_400_000, "threshold_us": 1_500_000, "level": "error", "window": 15})
        }
        NotificationKind::WebChange => json!({"before": 10_240, "now": 9_800}),
        NotificationKind::CertificateExpiration => {
            json!({"subject": "CN=example.com", "not_after": now.to_string()})
        }
        NotificationKind::Digest => json!({"lines": ["Example monitor: error 1", "Example monitor: clear"]}),
        NotificationKind::Traceroute => json!({"traceroute": " 1  192.0.2.1  1.2 ms\n"}),
        _ => json!({}),
    };
    into_object(details)
}
