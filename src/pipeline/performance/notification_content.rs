//! Content of notifications about performance alerts.

use serde_json::{Value, json};

use crate::alerting::{PerformanceAlertChange, PerformanceRule, PerformanceThreshold};
use crate::catalog::AccountSnapshot;
use crate::catalog::monitor_description::{custom_properties, display_target};
use crate::domain::{LocationId, NotificationContent, NotificationKind, Status, Timestamp};
use crate::schema::Monitor;
use crate::syntax::json_object::into_object;

/// What the content of a notification about a raised or cleared alert is built from.
pub(super) struct PerformanceContentSources<'a> {
    pub(super) rule: &'a PerformanceRule,
    pub(super) monitor: &'a Monitor,
    pub(super) account: &'a AccountSnapshot,
    pub(super) location: LocationId,
    pub(super) change: PerformanceAlertChange,
    /// When the alert was raised.
    pub(super) since: Timestamp,
    pub(super) now: Timestamp,
}

pub(super) fn build_notification_content(
    sources: &PerformanceContentSources<'_>,
    kind: NotificationKind,
) -> NotificationContent {
    let PerformanceContentSources { rule, monitor, account, location, change, since, now } = sources;
    let (mean_us, limit_us, comparison) = match *change {
        PerformanceAlertChange::Raise { mean_us, limit_us } => (mean_us, limit_us, "over"),
        PerformanceAlertChange::Clear { mean_us, limit_us } => (mean_us, limit_us, "no longer over"),
    };
    let minutes = rule.window.as_secs() / 60;
    let limit = match rule.threshold {
        PerformanceThreshold::Static { .. } => format_seconds(limit_us),
        PerformanceThreshold::Dynamic { percent, days } => {
            format!("{}, {percent} % above the mean of {days} days", format_seconds(limit_us))
        }
    };
    let text = format!("mean time of {minutes} min is {}, {comparison} {limit}", format_seconds(mean_us));
    let extra = json!({
        "level": rule.level.as_str(), "alert_id": rule.id, "mean_us": mean_us, "limit_us": limit_us,
        "window_minutes": minutes,
    });
    NotificationContent {
        kind,
        customer: monitor.customer,
        account_name: account.name.clone(),
        brand: account.brand.clone(),
        monitor_id: Some(monitor.id),
        monitor_name: monitor.name().to_owned(),
        monitor_type: Some(monitor.monitor_type()),
        episode_id: None,
        check_id: None,
        occurred_at: *now,
        outage_started_at: Some(*since),
        status: Status::OK,
        status_text: text.clone(),
        reasons: vec![text],
        consecutive_failures: u32::from(kind == NotificationKind::PerformanceError),
        http_status: None,
        location_id: Some(*location),
        location_name: account
            .locations
            .get(&location.0)
            .map(|account_location| account_location.name.clone())
            .unwrap_or_default(),
        location_reports: Vec::new(),
        verification: None,
        target: display_target(monitor),
        failing_step: None,
        alert_note: monitor.document.alert_note().to_owned(),
        properties: custom_properties(monitor, account),
        phases: Vec::new(),
        certificate: Value::Null,
        extra: into_object(extra),
    }
}

fn format_seconds(micros: u64) -> String {
    format!("{:.3} s", micros as f64 / 1_000_000.0)
}
