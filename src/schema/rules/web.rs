//! URLs, bodies, keywords, scripts, dialogues, thresholds (fields.md 1–3).

use serde_json::Value;

use super::judged::{Bench, regex_problem};
use crate::domain::MonitorType;
use crate::syntax::ValidationErrorKind;

pub(super) fn check(bench: &mut Bench<'_>) {
    scheme(bench);
    body(bench);
    version(bench);
    keyword(bench);
    one_of_two(bench);
    dialogue(bench);
    thresholds(bench);
    steps_allowed(bench);
}

/// The URL's scheme fits the type (fields.md 1).
fn scheme(bench: &mut Bench<'_>) {
    let (wanted, other) = match bench.document().kind() {
        MonitorType::Website => ("http", MonitorType::WebsiteSsl),
        MonitorType::WebsiteSsl => ("https", MonitorType::Website),
        _ => return,
    };
    let kind = bench.document().kind();
    let parsed = bench.document().text("url").and_then(|url| url::Url::parse(url).ok());
    let Some(url) = parsed.filter(|url| url.scheme() != wanted) else { return };
    bench.conflict_with_hint(
        "url",
        format!("`url` of a `{kind}` monitor must start with `{wanted}://`, not `{}://`", url.scheme()),
        format!("type `{other}` is for such URLs"),
    );
}

/// HTTP/3 goes over UDP, which no proxy of the settings carries.
fn version(bench: &mut Bench<'_>) {
    if !bench.has("http_version") || !bench.sound(&["http_version", "proxy_id"]) {
        return;
    }
    let document = bench.document();
    if document.text("http_version") == Some("3") && document.number("proxy_id") != 0 {
        let message = "`http_version` 3 cannot be used with `proxy_id`: no proxy carries its UDP".to_owned();
        bench.conflict_with_hint("http_version", message, "use 2 or 1.1 through a proxy".to_owned());
    }
}

fn body(bench: &mut Bench<'_>) {
    let document = bench.document();
    if bench.has("post_body") && document.text("post_body").is_some() {
        let method = document.text("http_method").unwrap_or_default();
        if method != "POST" && bench.sound(&["http_method"]) {
            bench.conflict("post_body", format!("`post_body` needs `http_method` POST, which is {method}"));
        }
    }
}

fn keyword(bench: &mut Bench<'_>) {
    let document = bench.document();
    let regular = document.text("keyword_match_type") == Some("Regular Expression");
    if !regular || !bench.sound(&["keyword_match_type", "keyword_string"]) {
        return;
    }
    if let Some(problem) = document.text("keyword_string").and_then(regex_problem) {
        let message = format!("`keyword_string` is no regular expression: {problem}");
        bench.fault(ValidationErrorKind::Format, "keyword_string", message);
    }
}

/// Types that want at least one of two fields.
fn one_of_two(bench: &mut Bench<'_>) {
    let (first, second) = match bench.document().kind() {
        MonitorType::BrowserScript => ("script", "url"),
        MonitorType::SecurityScan => ("hostname", "url"),
        _ => return,
    };
    let document = bench.document();
    if document.text(first).is_none() && document.text(second).is_none() && bench.sound(&[first, second]) {
        bench.fault(ValidationErrorKind::MissingField, first, format!("`{first}` or `{second}` is required"));
    }
}

fn dialogue(bench: &mut Bench<'_>) {
    if !bench.has("dialogue") {
        return;
    }
    for (index, line) in bench.document().list("dialogue").iter().enumerate() {
        let path = format!("dialogue[{index}]");
        let expect = line.get("expect").and_then(Value::as_str);
        if expect.is_none() && line.get("send").is_none() {
            bench.fault(
                ValidationErrorKind::MissingField,
                &path,
                format!("`{path}` needs `send`, `expect` or both"),
            );
        }
        if let Some(problem) = expect.and_then(regex_problem) {
            let path = format!("{path}.expect");
            bench.fault(
                ValidationErrorKind::Format,
                &path,
                format!("`{path}` is no regular expression: {problem}"),
            );
        }
    }
}

fn thresholds(bench: &mut Bench<'_>) {
    if !bench.has("thresholds") {
        return;
    }
    for (index, threshold) in bench.document().list("thresholds").iter().enumerate() {
        if threshold.get("warning").is_none() && threshold.get("error").is_none() {
            let path = format!("thresholds[{index}]");
            bench.fault(
                ValidationErrorKind::MissingField,
                &path,
                format!("`{path}` needs `warning`, `error` or both"),
            );
        }
    }
}

/// Only admins change how many steps a script may have (fields.md 3).
fn steps_allowed(bench: &mut Bench<'_>) {
    if !bench.around().no_admin || !bench.has("transaction_steps_allowed") {
        return;
    }
    let field = "transaction_steps_allowed";
    let now = bench.judged.old.map_or(50, |old| old.number(field));
    if bench.document().number(field) != now && bench.sound(&[field]) {
        bench.conflict(field, format!("`{field}` is for admins to change; it is `{now}`"));
    }
}
