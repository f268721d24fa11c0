//! A digest: one message for many that were held back.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::domain::{
    NewNotification, Notification, NotificationContent, NotificationKind, Status, Timestamp,
};

/// Most messages that a digest lists; the others are counted.
const MAX_LISTED: usize = 50;

/// Builds the digest of `held`, oldest first; `None` when it is empty. Its key depends on the first message only, so
/// that a digest that is still queued is not enqueued again.
pub(super) fn build_digest(held: &[Notification], now: Timestamp) -> Option<NewNotification> {
    let (first, last) = (held.first()?, held.last()?);
    let recipient = first.message.recipient_id;
    let mut kinds: BTreeMap<NotificationKind, usize> = BTreeMap::new();
    for notification in held {
        *kinds.entry(notification.message.content.kind).or_default() += 1;
    }
    let counts: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count} × {}", kind.title())).collect();
    let mut lines: Vec<String> = held.iter().take(MAX_LISTED).map(summary_line).collect();
    if held.len() > MAX_LISTED {
        lines.push(format!("… and {} more", held.len() - MAX_LISTED));
    }
    let mut content = content_without_monitor(NotificationKind::Digest, &first.message.content, now);
    content.status_text = format!("{} messages were held back: {}", held.len(), counts.join(", "));
    content.reasons = lines;
    content.consecutive_failures = u32::try_from(held.len()).unwrap_or(u32::MAX);
    content.extra.insert("count".to_owned(), json!(held.len()));
    content.extra.insert("last".to_owned(), json!(last.id));
    Some(NewNotification {
        idempotency_key: format!("digest-{}-{recipient}", first.id),
        recipient_id: recipient,
        group_id: None,
        content,
        created_at: now,
        not_before: now,
    })
}

/// Returns the id of the last message that `digest` covers.
pub(super) fn last_included_id(digest: &NotificationContent) -> Option<i64> {
    digest.extra.get("last").and_then(Value::as_i64)
}

/// Whether it is a digest.
pub(super) fn is_digest(notification: &Notification) -> bool {
    notification.message.content.kind == NotificationKind::Digest
}

/// Whether the limit of messages a minute does not apply to it: a clear that waits would leave an alert open.
pub(super) fn is_exempt_from_limit(notification: &Notification) -> bool {
    is_digest(notification) || notification.message.content.kind.is_clear()
}

/// Returns the line about `notification` in a digest.
fn summary_line(notification: &Notification) -> String {
    let content = &notification.message.content;
    let location = if content.location_name.is_empty() {
        String::new()
    } else {
        format!(" from {}", content.location_name)
    };
    format!(
        "{} {}: {} (ST={}) {}{location}",
        content.occurred_at,
        content.kind.title(),
        content.monitor_name,
        content.status,
        content.status_text
    )
}

/// Returns content of `kind` that is about no monitor, with the account data of `account_source`.
fn content_without_monitor(
    kind: NotificationKind,
    account_source: &NotificationContent,
    now: Timestamp,
) -> NotificationContent {
    NotificationContent {
        kind,
        customer: account_source.customer,
        account_name: account_source.account_name.clone(),
        brand: account_source.brand.clone(),
        monitor_id: None,
        monitor_name: String::new(),
        monitor_type: None,
        episode_id: None,
        check_id: None,
        occurred_at: now,
        outage_started_at: None,
        status: Status::OK,
        status_text: String::new(),
        reasons: Vec::new(),
        consecutive_failures: 0,
        http_status: None,
        location_id: None,
        location_name: String::new(),
        location_reports: Vec::new(),
        verification: None,
        target: String::new(),
        failing_step: None,
        alert_note: String::new(),
        properties: Vec::new(),
        phases: Vec::new(),
        certificate: Value::Null,
        extra: serde_json::Map::new(),
    }
}
