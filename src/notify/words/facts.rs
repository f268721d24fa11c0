//! What templates can name: the fields of the JSON, and what only people want to see.

use serde_json::{Value, json};

use crate::domain::{MonitorType, NotificationContent};
use crate::notify::fields::fields;

/// Characters of one text.
const TEXT: usize = 2_000;
/// Characters of a traceroute.
const TRACEROUTE: usize = 8_000;
/// Entries of one list.
const LIST: usize = 100;
/// Signs of a bar over the whole width.
const BAR: u64 = 30;

/// Values for templates, cleaned and bounded.
pub(super) struct Facts(Value);

impl Facts {
    /// Those of `notice`.
    pub(super) fn of(notice: &NotificationContent) -> Self {
        let mut facts = fields(notice, "", "");
        facts.shift_remove("key");
        facts.shift_remove("text");
        facts.insert("title".to_owned(), json!(notice.kind.title()));
        facts.insert("is_clear".to_owned(), json!(notice.kind.is_clear()));
        facts.insert("locations".to_owned(), facts.get("rotated_locations").cloned().unwrap_or_default());
        facts.insert("phases".to_owned(), phases(&notice.phases));
        facts.insert("certificate".to_owned(), certificate(&notice.certificate));
        facts.insert("properties".to_owned(), properties(notice));
        facts.insert("scripted".to_owned(), json!(notice.monitor_type == Some(MonitorType::BrowserScript)));
        facts.insert("duration".to_owned(), json!(duration(notice)));
        let verified =
            notice.verification.as_ref().map(|said| format!("{} ({})", said.status.text(), said.status));
        facts.insert("verified".to_owned(), json!(verified));
        let mut more = notice.extra.clone();
        let traceroute = more.shift_remove("traceroute");
        facts.insert("more".to_owned(), Value::Object(more));
        for value in facts.values_mut() {
            clean(value, TEXT);
        }
        if let Some(mut traceroute) = traceroute {
            clean(&mut traceroute, TRACEROUTE);
            facts.insert("traceroute".to_owned(), traceroute);
        }
        Self(Value::Object(facts))
    }

    /// All of them.
    pub(super) fn all(&self) -> &Value {
        &self.0
    }
}

/// Replaces what a terminal or mail program would obey, and cuts what is too long.
fn clean(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => {
            let safe = |c: char| {
                if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
            };
            *text = text.chars().take(most).map(safe).collect();
        }
        Value::Array(items) => {
            items.truncate(LIST);
            for item in items {
                clean(item, most);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut().take(LIST) {
                clean(field, most);
            }
        }
        _ => {}
    }
}

fn phases(phases: &[(String, u64)]) -> Value {
    let total: u64 = phases.iter().map(|(_, micros)| micros).sum::<u64>().max(1);
    let phase = |(name, micros): &(String, u64)| {
        let share = |whole: u64| micros.saturating_mul(whole).div_ceil(total).min(whole);
        json!({
            "name": name.replace('_', " "),
            "time": shown(*micros),
            "percent": share(100),
            "bar": "#".repeat(usize::try_from(share(BAR)).unwrap_or_default()),
        })
    };
    phases.iter().map(phase).collect()
}

/// Microseconds as people read them.
fn shown(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        _ => format!("{}.{:02} s", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// The server's own of a chain.
fn certificate(certificate: &Value) -> Value {
    match certificate {
        Value::Array(chain) => chain.first().cloned().unwrap_or_default(),
        other => other.clone(),
    }
}

fn properties(notice: &NotificationContent) -> Value {
    let property = |(name, value): &(String, String)| json!({"name": name, "value": value});
    notice.properties.iter().map(property).collect()
}

/// How long the outage has lasted, in words; empty without one.
fn duration(notice: &NotificationContent) -> String {
    let Some(since) = notice.since else { return String::new() };
    match notice.at.since(since).as_secs() {
        0 => String::new(),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        seconds => format!("{} days {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}
