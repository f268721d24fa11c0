//! The requests of a check and their responses, folded: heads, and the beginning of bodies.

use std::fmt::Write;

use super::browser::step_text;
use crate::domain::{CheckDetails, Excerpt, HeaderList, HttpExchange};
use crate::service::result_view::format_grouped;
use crate::texts::{Locale, key};
use crate::web::html::escape;

/// Most exchanges shown; the record below has the rest.
const MAX_SHOWN_EXCHANGES: usize = 50;

/// Renders the exchanges of the check and of its steps; empty without any.
pub(super) fn render_exchanges(details: &CheckDetails, t: Locale) -> String {
    let of_steps = details
        .steps
        .iter()
        .flat_map(|step| step.exchanges.iter().map(move |exchange| (Some(step), exchange)));
    let all = details.exchanges.iter().map(|exchange| (None, exchange)).chain(of_steps);
    let mut out = String::new();
    for (step, exchange) in all.take(MAX_SHOWN_EXCHANGES) {
        let prefix = step.map_or(String::new(), |step| format!("{}: ", step_text(step.number, t)));
        render_exchange(&mut out, &prefix, exchange, t);
    }
    if out.is_empty() { out } else { format!("<h2>{}</h2>{out}", t.text("Requests and responses")) }
}

/// Renders one exchange. Writing into a string cannot fail, here and below.
fn render_exchange(out: &mut String, prefix: &str, exchange: &HttpExchange, t: Locale) {
    let status = match exchange.http_status {
        0 => t.text("no response").to_owned(),
        status => format!(
            "{} {status} {}",
            exchange.http_version,
            exchange.http_reason.as_deref().unwrap_or_default()
        ),
    };
    let address = exchange.address.map_or(String::new(), |address| {
        format!(" {}", t.fill("from {location}", &[("location", &address.to_string())]))
    });
    let _ = write!(
        out,
        r#"<details class="fold"><summary>{prefix}{} <code>{}</code> → {}{address}</summary>"#,
        escape(&exchange.method),
        escape(&exchange.url),
        escape(status.trim())
    );
    render_head(out, t.text("Request"), &exchange.request_headers);
    render_body(out, exchange.request_body.as_ref(), t);
    if let Some(failure) = &exchange.failure {
        let _ = write!(out, r#"<p class="notice">{}</p>"#, escape(&failure.to_string()));
    }
    render_head(out, t.text("Response"), &exchange.response_headers);
    render_body(out, exchange.response_body.as_ref(), t);
    out.push_str("</details>");
}

fn render_head(out: &mut String, title: &str, headers: &HeaderList) {
    if headers.is_empty() {
        return;
    }
    let _ = write!(out, r#"<h3>{title}</h3><pre class="record" tabindex="0">"#);
    for (name, value) in headers.iter() {
        let _ = writeln!(out, "{}: {}", escape(name), escape(value));
    }
    out.push_str("</pre>");
}

fn render_body(out: &mut String, body: Option<&Excerpt>, t: Locale) {
    let Some(body) = body.filter(|body| !body.text.is_empty()) else { return };
    let shown_bytes = body.text.len() as u64;
    let size = t.grouped(format_grouped(body.body_bytes));
    let text = if shown_bytes < body.body_bytes {
        key("Body, the beginning of {size} bytes")
    } else {
        key("Body, {size} bytes")
    };
    let part = t.fill(text, &[("size", &size)]);
    let _ = write!(out, r#"<p>{part}</p><pre class="record" tabindex="0">{}</pre>"#, escape(&body.text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_bodies_of_hostile_servers_are_text() {
        let mut exchange = HttpExchange {
            method: "GET".to_owned(),
            url: "http://a.test/<i>".to_owned(),
            http_status: 500,
            http_version: "HTTP/1.1".to_owned(),
            http_reason: Some("<b>".to_owned()),
            response_body: Some(Excerpt {
                text: "<script>".to_owned(),
                body_bytes: 9_999,
                ..Excerpt::default()
            }),
            ..HttpExchange::default()
        };
        exchange.response_headers.push("x-<u>", "</pre><u>");
        let html = render_exchanges(
            &CheckDetails { exchanges: vec![exchange], ..CheckDetails::default() },
            Locale::default(),
        );
        for hostile in ["<i>", "<b>", "<u>", "<script>"] {
            assert!(!html.contains(hostile), "{hostile}: {html}");
        }
        assert!(html.contains("the beginning of 9,999 bytes"), "{html}");
        assert_eq!(render_exchanges(&CheckDetails::default(), Locale::default()), "");
    }
}
