//! HTML helpers. Every text from outside goes through [`escape`].

use std::time::Duration;

use axum::response::Html;

use super::viewer::{SessionControl, Viewer};
use crate::domain::Timestamp;
pub(super) use crate::domain::escape_html as escape;

/// Makes a document reload every 10 seconds.
const REFRESH_TAG: &str = "\n<meta http-equiv=\"refresh\" content=\"10\">";
/// Replaces the policy of the response, which is to send no referrer: with that, browsers send no `Origin` with forms.
const FORM_REFERRER_TAG: &str = "\n<meta name=\"referrer\" content=\"same-origin\">";
/// Footer of pages that reload.
const REFRESH_NOTE: &str = "times in UTC · refreshed every 10 s · ";

/// Renders a whole document that reloads every 10 seconds; `body` is HTML, `title` is text.
pub(super) fn render_reloading_document(title: &str, body: &str, viewer: &Viewer) -> Html<String> {
    let head = format!("{REFRESH_TAG}{FORM_REFERRER_TAG}");
    render_html(title, body, &head, REFRESH_NOTE, &viewer.session_control)
}

/// Renders a whole document that does not reload.
pub(super) fn render_document_without_reload(title: &str, body: &str, viewer: &Viewer) -> Html<String> {
    render_html(title, body, FORM_REFERRER_TAG, "", &viewer.session_control)
}

/// Renders a whole document with a form, for a caller who is not signed in.
pub(super) fn render_form_document(title: &str, body: &str) -> Html<String> {
    render_html(title, body, FORM_REFERRER_TAG, "", &SessionControl::Nothing)
}

/// Renders a whole document whose address holds a secret: no request that it causes names that address.
pub(super) fn render_document_without_referrer(title: &str, body: &str) -> Html<String> {
    let head = "\n<meta name=\"referrer\" content=\"no-referrer\">";
    render_html(title, body, head, "", &SessionControl::Nothing)
}

/// Renders a whole HTML document, with `head_tags` in the head and the text `footer_note` in the footer.
fn render_html(
    title: &str,
    body: &str,
    head_tags: &str,
    footer_note: &str,
    session_control: &SessionControl,
) -> Html<String> {
    let session_control = session_control.render();
    let title = escape(title);
    let version = env!("CARGO_PKG_VERSION");
    Html(format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">{head_tags}
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><a class="brand" href="/"><img src="/icon.svg" alt="" width="26" height="26">Vigie</a>{session_control}</header>
<main>
{body}
</main>
<footer>Vigie {version} · {footer_note}<a href="/manual/">manual</a> · <a href="/metrics">metrics</a> · <a href="/readyz">readiness</a> · <a href="/api/v3/docs">API</a></footer>
</body>
</html>
"#
    ))
}

/// Renders a document that only shows a message, and reloads every 10 seconds.
pub(super) fn render_notice_page(title: &str, text: &str) -> Html<String> {
    let body = format!(r#"<h1>{}</h1><p class="notice">{}</p>"#, escape(title), escape(text));
    render_html(&format!("{title} · Vigie"), &body, REFRESH_TAG, REFRESH_NOTE, &SessionControl::Nothing)
}

/// Formats a time such as `2026-11-20 12:00:00`, in UTC.
pub(super) fn format_time(time: Timestamp) -> String {
    let whole_seconds = Timestamp::from_seconds(time.as_micros().div_euclid(1_000_000)).to_string();
    whole_seconds.replace('T', " ").trim_end_matches('Z').to_owned()
}

/// Renders how long ago a time was, with the exact time as a tooltip.
pub(super) fn render_age(time: Timestamp, now: Timestamp) -> String {
    let exact_time = time.to_string();
    let (exact_time, text) = (escape(&exact_time), format_coarse_duration(now.since(time)));
    format!(r#"<time datetime="{exact_time}" title="{exact_time}">{text} ago</time>"#)
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

/// Formats microseconds for people: `840 µs`, `12.3 ms`, `4.56 s`.
pub(super) fn format_micros(micros: u64) -> String {
    let value = micros as f64;
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", value / 1e3),
        _ => format!("{:.2} s", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_durations_read_well() {
        let spans = [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_660, "1 h 1 min"), (90_000, "1 d 1 h")];
        for (seconds, text) in spans {
            assert_eq!(format_coarse_duration(Duration::from_secs(seconds)), text);
        }
        let durations = [(0, "0 µs"), (999, "999 µs"), (12_345, "12.3 ms"), (4_560_000, "4.56 s")];
        for (micros, text) in durations {
            assert_eq!(format_micros(micros), text);
        }
        assert_eq!(format_time(Timestamp::from_micros(1_795_176_000_999_999)), "2026-11-20 12:00:00");
    }
}
