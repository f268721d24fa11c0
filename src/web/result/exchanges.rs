//! The requests of a check and their responses, folded: heads, and the beginning of bodies.

use std::fmt::Write;

use crate::domain::{CheckDetails, Excerpt, HeaderList, HttpExchange};
use crate::service::result_view::format_grouped;
use crate::web::html::escape;

/// Most exchanges shown; the record below has the rest.
const MAX_SHOWN_EXCHANGES: usize = 50;

/// Renders the exchanges of the check and of its steps; empty without any.
pub(super) fn render_exchanges(details: &CheckDetails) -> String {
    let of_steps = details
        .steps
        .iter()
        .flat_map(|step| step.exchanges.iter().map(move |exchange| (Some(step), exchange)));
    let all = details.exchanges.iter().map(|exchange| (None, exchange)).chain(of_steps);
    let mut out = String::new();
    for (step, exchange) in all.take(MAX_SHOWN_EXCHANGES) {
        let prefix = step.map_or(String::new(), |step| format!("Step {}: ", step.number));
        render_exchange(&mut out, &prefix, exchange);
    }
    if out.is_empty() { out } else { format!("<h2>Requests and responses</h2>{out}") }
}

/// Renders one exchange. Writing into a string cannot fail, here and below.
fn render_exchange(out: &mut String, prefix: &str, exchange: &HttpExchange) {
    let status = match exchange.http_status {
        0 => "no response".to_owned(),
        status => format!(
            "{} {status} {}",
            exchange.http_version,
            exchange.http_reason.as_deref().unwrap_or_default()
        ),
    };
    let address = exchange.address.map_or(String::new(), |address| format!(" from {address}"));
    let _ = write!(
        out,
        r#"<details class="fold"><summary>{prefix}{} <code>{}</code> → {}{address}</summary>"#,
        escape(&exchange.method),
        escape(&exchange.url),
        escape(status.trim())
    );
    render_head(out, "Request", &exchange.request_headers);
    render_body(out, exchange.request_body.as_ref());
    if let Some(failure) = &exchange.failure {
        let _ = write!(out, r#"<p class="notice">{}</p>"#, escape(&failure.to_string()));
    }
    render_head(out, "Response", &exchange.response_headers);
    render_body(out, exchange.response_body.as_ref());
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

fn render_body(out: &mut String, body: Option<&Excerpt>) {
    let Some(body) = body.filter(|body| !body.text.is_empty()) else { return };
    let shown_bytes = body.text.len() as u64;
    let size = format_grouped(body.body_bytes);
    let part = if shown_bytes < body.body_bytes {
        format!("the beginning of {size} bytes")
    } else {
        format!("{size} bytes")
    };
    let _ =
        write!(out, r#"<p>Body, {part}</p><pre class="record" tabindex="0">{}</pre>"#, escape(&body.text));
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
        let html = render_exchanges(&CheckDetails { exchanges: vec![exchange], ..CheckDetails::default() });
        for hostile in ["<i>", "<b>", "<u>", "<script>"] {
            assert!(!html.contains(hostile), "{hostile}: {html}");
        }
        assert!(html.contains("the beginning of 9,999 bytes"), "{html}");
        assert_eq!(render_exchanges(&CheckDetails::default()), "");
    }
}
