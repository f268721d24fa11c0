//! HTML helpers. Every text from outside goes through [`escape`].

use std::fmt::{self, Write};
use std::time::Duration;

use serde_json::Value;

use crate::domain::Timestamp;
pub(super) use crate::domain::escape_html as escape;
use crate::texts::Locale;

/// Escapes texts in templates as [`escape`] does.
#[derive(Clone, Copy, Debug)]
pub(super) struct HtmlEscaper;

impl askama::filters::Escaper for HtmlEscaper {
    fn write_escaped_str<W: Write>(&self, mut dest: W, string: &str) -> fmt::Result {
        dest.write_str(&escape(string))
    }
}

/// Renders how long ago a time was, with the exact time as a tooltip. A script of the page keeps it true.
pub(super) fn render_age(time: Timestamp, now: Timestamp, t: Locale) -> String {
    let duration = format_coarse_duration(now.since(time));
    render_time(time, "ago", &t.fill("{duration} ago", &[("duration", &duration)]), t)
}

/// Renders for how long something lasts that began at a time.
pub(super) fn render_time_since(time: Timestamp, now: Timestamp, t: Locale) -> String {
    render_time(time, "since", &format_coarse_duration(now.since(time)), t)
}

/// Renders in how long a time will come.
pub(super) fn render_time_until(time: Timestamp, now: Timestamp, t: Locale) -> String {
    render_time(time, "until", &format_coarse_duration(time.since(now)), t)
}

fn render_time(time: Timestamp, form: &str, text: &str, t: Locale) -> String {
    let exact_time = time.to_string();
    let exact_time = escape(&exact_time);
    format!(r#"<time datetime="{exact_time}" title="{}" data-age="{form}">{text}</time>"#, t.zoned_time(time))
}

/// Formats the largest units of a duration, at most two: `3 d 4 h`, `12 min`, `7 s`.
pub(super) fn format_coarse_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// Renders the beginning of a table up to its first row. `heads` are the classes of the columns, empty for none, and the
/// keys of their headings.
pub(super) fn render_table_head(heads: &[(&str, &str)], t: Locale) -> String {
    let mut out = String::from(r#"<div class="scroll"><table class="rows"><thead><tr>"#);
    for (class, heading) in heads {
        let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
        // Writing into a string cannot fail.
        let _ = write!(out, "<th{class}>{}</th>", t.text(heading));
    }
    out.push_str("</tr></thead><tbody>");
    out
}

/// Renders a text of the table, in which names of fields stand between backticks, as HTML.
pub(super) fn with_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let marks = text.matches('`').count();
    for (place, part) in text.split('`').enumerate() {
        let escaped = escape(part);
        // Of an odd number of backticks, the last one is none.
        let is_code = place % 2 == 1 && marks > place;
        let _ = if is_code { write!(out, "<code>{escaped}</code>") } else { write!(out, "{escaped}") };
    }
    out
}

/// Most characters of a value of a field.
const MAX_VALUE_CHARS: usize = 120;

/// Returns a value of a field as it stands in a table, cut off when it is long.
pub(super) fn shown_value(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spans_read_well() {
        let spans = [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_660, "1 h 1 min"), (90_000, "1 d 1 h")];
        for (seconds, text) in spans {
            assert_eq!(format_coarse_duration(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn names_between_backticks_are_code_and_escaped() {
        assert_eq!(with_code("a `<b>` c `d`"), "a <code>&lt;b&gt;</code> c <code>d</code>");
        assert_eq!(with_code("``"), "<code></code>");
    }

    #[test]
    fn a_long_value_is_cut_off_between_characters() {
        assert_eq!(shown_value(&json!("é".repeat(200))).chars().count(), MAX_VALUE_CHARS + 1);
    }
}
