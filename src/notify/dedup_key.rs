//! The key by which receivers match an error with its repeats and its clear.

use crate::domain::{LocationId, NotificationContent, NotificationKind};

/// Longest key in characters: the limit of PagerDuty's `dedup_key`.
const MAX_KEY_CHARS: usize = 255;

/// Returns the key that an error and its clear share: that of their performance alert, episode, time without data, or
/// monitor. Other messages get `idempotency_key`. At most 255 characters.
#[must_use]
pub fn dedup_key(content: &NotificationContent, idempotency_key: &str) -> String {
    let alert_family = match content.kind {
        NotificationKind::PerformanceError | NotificationKind::PerformanceClear => "performance",
        NotificationKind::HostagentError | NotificationKind::HostagentClear => "hostagent",
        NotificationKind::SiteError | NotificationKind::SiteClear => "site",
        NotificationKind::NoData | NotificationKind::NoDataClear => {
            return no_data_key(content).unwrap_or_else(|| truncated(idempotency_key));
        }
        _ => return truncated(idempotency_key),
    };
    if let Some((alert, location)) = performance_alert_key(content) {
        return format!("vigie-performance-{alert}-{location}");
    }
    match (content.episode_id, content.monitor_id) {
        (Some(episode), _) => format!("vigie-{alert_family}-episode-{episode}"),
        (None, Some(monitor)) => format!("vigie-{alert_family}-monitor-{monitor}"),
        (None, None) => truncated(idempotency_key),
    }
}

/// Returns the key of the time without data that `content` is about, which its first run identifies.
fn no_data_key(content: &NotificationContent) -> Option<String> {
    let started_at = content.outage_started_at?.as_micros();
    Some(format!("vigie-no-data-monitor-{}-{started_at}", content.monitor_id?))
}

/// Returns the performance alert and location of `content`: each alert is raised and cleared for each location.
pub(super) fn performance_alert_key(content: &NotificationContent) -> Option<(i64, LocationId)> {
    let alert_id = content.extra.get("alert_id").filter(|_| content.kind.is_performance())?.as_i64()?;
    Some((alert_id, content.location_id?))
}

fn truncated(idempotency_key: &str) -> String {
    idempotency_key.chars().take(MAX_KEY_CHARS).collect()
}
