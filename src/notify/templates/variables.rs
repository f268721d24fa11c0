//! The variables of templates: the fields of the JSON object, and some for people only.

use serde_json::{Value, json};

use crate::domain::{MonitorType, NotificationContent};
use crate::notify::json_fields::json_fields;
use crate::texts::Locale;

/// Most characters of one text.
const MAX_TEXT_CHARS: usize = 2_000;
/// Most characters of a traceroute.
const MAX_TRACEROUTE_CHARS: usize = 8_000;
/// Most entries of one list.
const MAX_LIST_ITEMS: usize = 100;
/// Characters of a full-width bar.
const BAR_WIDTH_CHARS: u64 = 30;

/// Template variables, sanitized and bounded.
pub(super) struct TemplateVariables(Value);

impl TemplateVariables {
    /// Returns the variables of `content`.
    pub(super) fn from_content(content: &NotificationContent, t: Locale) -> Self {
        let mut variables = json_fields(content, "", "");
        variables.shift_remove("key");
        variables.shift_remove("text");
        variables.insert("title".to_owned(), json!(content.kind.title()));
        variables.insert("is_clear".to_owned(), json!(content.kind.is_clear()));
        variables
            .insert("locations".to_owned(), variables.get("rotated_locations").cloned().unwrap_or_default());
        variables.insert("phases".to_owned(), phases_variable(&content.phases, t));
        variables.insert("certificate".to_owned(), certificate_variable(&content.certificate));
        variables.insert("properties".to_owned(), properties_variable(content));
        variables
            .insert("scripted".to_owned(), json!(content.monitor_type == Some(MonitorType::BrowserScript)));
        variables.insert("duration".to_owned(), json!(format_episode_duration(content)));
        let verified = content
            .verification
            .as_ref()
            .map(|verification| format!("{} ({})", verification.status.text(), verification.status));
        variables.insert("verified".to_owned(), json!(verified));
        let mut extra = content.extra.clone();
        let traceroute = extra.shift_remove("traceroute");
        variables.insert("more".to_owned(), Value::Object(extra));
        for value in variables.values_mut() {
            sanitize_and_truncate(value, MAX_TEXT_CHARS);
        }
        if let Some(mut traceroute) = traceroute {
            sanitize_and_truncate(&mut traceroute, MAX_TRACEROUTE_CHARS);
            variables.insert("traceroute".to_owned(), traceroute);
        }
        Self(Value::Object(variables))
    }

    /// Returns all variables.
    pub(super) fn as_value(&self) -> &Value {
        &self.0
    }
}

/// Replaces control characters that a terminal or mail program would interpret, and truncates long texts and lists.
fn sanitize_and_truncate(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => {
            let replace_control = |c: char| {
                if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
            };
            *text = text.chars().take(max_chars).map(replace_control).collect();
        }
        Value::Array(items) => {
            items.truncate(MAX_LIST_ITEMS);
            for item in items {
                sanitize_and_truncate(item, max_chars);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut().take(MAX_LIST_ITEMS) {
                sanitize_and_truncate(field, max_chars);
            }
        }
        _ => {}
    }
}

fn phases_variable(phases: &[(String, u64)], t: Locale) -> Value {
    let total: u64 = phases.iter().map(|(_, micros)| micros).sum::<u64>().max(1);
    let phase = |(name, micros): &(String, u64)| {
        let scaled_to = |full_scale: u64| micros.saturating_mul(full_scale).div_ceil(total).min(full_scale);
        let name = name.replace('_', " ");
        json!({
            "label": t.text(&name),
            "name": name,
            "time": format_micros(*micros),
            "percent": scaled_to(100),
            "bar": "#".repeat(usize::try_from(scaled_to(BAR_WIDTH_CHARS)).unwrap_or_default()),
        })
    };
    phases.iter().map(phase).collect()
}

/// Formats microseconds for people.
fn format_micros(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        _ => format!("{}.{:02} s", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// Returns the server's own certificate of a chain.
fn certificate_variable(certificate: &Value) -> Value {
    match certificate {
        Value::Array(chain) => chain.first().cloned().unwrap_or_default(),
        other => other.clone(),
    }
}

fn properties_variable(content: &NotificationContent) -> Value {
    let property = |(name, value): &(String, String)| json!({"name": name, "value": value});
    content.properties.iter().map(property).collect()
}

/// Formats how long the episode has lasted; empty without one.
fn format_episode_duration(content: &NotificationContent) -> String {
    let Some(since) = content.outage_started_at else { return String::new() };
    match content.occurred_at.since(since).as_secs() {
        0 => String::new(),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        seconds => format!("{} days {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}
