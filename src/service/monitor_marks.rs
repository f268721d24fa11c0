//! What happened around a monitor, for marks in its charts: events, blackouts and changes of it.

use super::monitor_reader::MonitorReader;
use crate::domain::{AuditEntry, AuditFilter, Pagination, Timestamp};
use crate::schedule::BlackoutTarget;
use crate::schema::Monitor;
use crate::store::StoreError;

/// Most marks of a kind; the newest are kept.
const MAX_MARKS: u32 = 100;

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// An event of the account.
    Event,
    /// A blackout, in which it was not checked or nobody was told.
    Blackout,
    /// A change of the monitor.
    Change,
}

/// A mark in a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorMark {
    /// What it stands for.
    pub kind: MarkKind,
    /// When it was, or began.
    pub from: Timestamp,
    /// When it ended, not clipped; `None` for a moment.
    pub until: Option<Timestamp>,
    /// What it was, for people.
    pub text: String,
}

impl MarkKind {
    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Blackout => "blackout",
            Self::Change => "change",
        }
    }
}

impl MonitorReader {
    /// Returns what happened around `monitor` in `from..until`, oldest first, for users of its account: at most a hundred of
    /// each kind, the newest.
    pub async fn marks(
        &self,
        monitor: &Monitor,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<MonitorMark>, StoreError> {
        let events = self.event_markers(monitor.customer, from, until).await?.into_iter();
        let mut marks: Vec<_> = events
            .map(|event| MonitorMark {
                kind: MarkKind::Event,
                from: event.reported_at,
                until: None,
                text: event.text(),
            })
            .collect();
        if let Some(accounts) = self.account_cache() {
            let account = accounts.account(monitor.customer).await?;
            let targets = [
                (BlackoutTarget::Monitor(monitor.id), "no checks"),
                (BlackoutTarget::Alert(monitor.id), "no alerts"),
            ];
            for (target, text) in targets {
                let ranges = account.blackout_calendar.ranges_between(target, from, until);
                let newest = ranges.into_iter().rev().take(MAX_MARKS as usize);
                marks.extend(newest.map(|(from, until)| MonitorMark {
                    kind: MarkKind::Blackout,
                    from,
                    until: Some(until),
                    text: text.to_owned(),
                }));
            }
        }
        if let Some(store) = self.config_store() {
            let filter = AuditFilter {
                customer: Some(monitor.customer),
                object_kind: Some("monitor".to_owned()),
                object_id: Some(monitor.id.0),
                from: Some(from),
                until: Some(until),
                ..AuditFilter::default()
            };
            let entries = store.audit_entries(filter, Pagination { limit: MAX_MARKS, offset: 0 }).await?;
            marks.extend(entries.items.iter().map(|entry| MonitorMark {
                kind: MarkKind::Change,
                from: entry.occurred_at,
                until: None,
                text: change_text(entry),
            }));
        }
        marks.sort_by_key(|mark| mark.from);
        Ok(marks)
    }
}

/// Returns who changed what, such as `change by ann: timeout, url`.
fn change_text(entry: &AuditEntry) -> String {
    let AuditEntry { action, login, .. } = entry;
    let mut names: Vec<&str> = match action.as_str() {
        "create" | "clone" | "delete" => Vec::new(),
        _ => entry.before.keys().chain(entry.after.keys()).map(String::as_str).collect(),
    };
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => format!("{action} by {login}"),
        names => format!("{action} by {login}: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    #[test]
    fn a_change_says_who_changed_which_fields() {
        let fields = |value: Value| match value {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let entry = |action: &str, before: Value, after: Value| AuditEntry {
            id: 1,
            occurred_at: Timestamp::from_seconds(0),
            login: "ann".to_owned(),
            address: String::new(),
            entry_point: "v3".to_owned(),
            action: action.to_owned(),
            object_kind: "monitor".to_owned(),
            object_id: Some(7),
            object_name: "shop".to_owned(),
            before: fields(before),
            after: fields(after),
        };
        let change = entry("change", json!({"url": "a", "timeout": 5}), json!({"url": "b", "timeout": 6}));
        assert_eq!(change_text(&change), "change by ann: timeout, url");
        assert_eq!(change_text(&entry("create", json!({}), json!({"url": "b"}))), "create by ann");
        assert_eq!(change_text(&entry("resume", json!({}), json!({}))), "resume by ann");
    }
}
