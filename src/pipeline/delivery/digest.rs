//! One message for many that were held back.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::domain::{
    NewNotification, Notification, NotificationContent, NotificationKind, Status, Timestamp,
};

/// Messages that a digest names; the others are counted.
const MAX_LISTED: usize = 50;

/// The digest of `held`, the oldest first; `None` of none. Its key hangs on the first of them: while it waits to
/// be sent, asking for it again makes no second one.
pub(super) fn digest_of_held(held: &[Notification], now: Timestamp) -> Option<NewNotification> {
    let (first, last) = (held.first()?, held.last()?);
    let recipient = first.message.recipient;
    let mut kinds: BTreeMap<NotificationKind, usize> = BTreeMap::new();
    for message in held {
        *kinds.entry(message.message.content.kind).or_default() += 1;
    }
    let counts: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count} × {}", kind.title())).collect();
    let mut lines: Vec<String> = held.iter().take(MAX_LISTED).map(summary_line).collect();
    if held.len() > MAX_LISTED {
        lines.push(format!("… and {} more", held.len() - MAX_LISTED));
    }
    let mut notice = empty_content(NotificationKind::Digest, &first.message.content, now);
    notice.status_text = format!("{} messages were held back: {}", held.len(), counts.join(", "));
    notice.reasons = lines;
    notice.errcount = u32::try_from(held.len()).unwrap_or(u32::MAX);
    notice.extra.insert("count".to_owned(), json!(held.len()));
    notice.extra.insert("last".to_owned(), json!(last.id));
    Some(NewNotification {
        key: format!("digest-{}-{recipient}", first.id),
        recipient,
        group: None,
        content: notice,
        created_at: now,
        not_before: now,
    })
}

/// The number of the last message that `digest` tells of.
pub(super) fn last_included_id(digest: &NotificationContent) -> Option<i64> {
    digest.extra.get("last").and_then(Value::as_i64)
}

fn summary_line(message: &Notification) -> String {
    let content = &message.message.content;
    let location =
        if content.location.is_empty() { String::new() } else { format!(" from {}", content.location) };
    format!(
        "{} {}: {} (ST={}) {}{location}",
        content.at,
        content.kind.title(),
        content.monitor_name,
        content.status,
        content.status_text
    )
}

/// A notice of `kind` that is about no monitor, in the name of the same account as `like`.
fn empty_content(kind: NotificationKind, like: &NotificationContent, now: Timestamp) -> NotificationContent {
    NotificationContent {
        kind,
        customer: like.customer,
        company: like.company.clone(),
        brand: like.brand.clone(),
        monitor_id: None,
        monitor_name: String::new(),
        monitor_type: None,
        episode: None,
        check_id: None,
        at: now,
        since: None,
        status: Status::OK,
        status_text: String::new(),
        reasons: Vec::new(),
        errcount: 0,
        http_status: None,
        location_id: None,
        location: String::new(),
        locations: Vec::new(),
        verification: None,
        target: String::new(),
        step: None,
        alert_note: String::new(),
        properties: Vec::new(),
        phases: Vec::new(),
        certificate: Value::Null,
        extra: serde_json::Map::new(),
    }
}
