//! Rules for URLs, bodies, keywords, scripts, dialogues and thresholds (fields.md 1–3).

use serde_json::Value;

use super::rule_context::{RuleContext, regex_error};
use crate::domain::MonitorType;
use crate::schema::typed::website::BODY_METHODS;
use crate::syntax::ValidationErrorKind;

pub(super) fn check(cx: &mut RuleContext<'_>) {
    check_scheme(cx);
    check_body(cx);
    check_http_version(cx);
    check_intervals(cx);
    check_keyword(cx);
    check_alternatives(cx);
    check_provider_host(cx);
    check_dialogue(cx);
    check_thresholds(cx);
    check_steps_allowed(cx);
}

/// Checks that the scheme of the URL fits the type (fields.md 1).
fn check_scheme(cx: &mut RuleContext<'_>) {
    let (expected, other_type) = match cx.document().monitor_type() {
        MonitorType::Website => ("http", MonitorType::WebsiteSsl),
        MonitorType::WebsiteSsl => ("https", MonitorType::Website),
        _ => return,
    };
    let monitor_type = cx.document().monitor_type();
    let parsed = cx.document().text("url").and_then(|url| url::Url::parse(url).ok());
    let Some(url) = parsed.filter(|url| url.scheme() != expected) else { return };
    cx.add_conflict_with_hint(
        "url",
        format!(
            "`url` of a `{monitor_type}` monitor must start with `{expected}://`, not `{}://`",
            url.scheme()
        ),
        format!("type `{other_type}` is for such URLs"),
    );
}

/// Rejects HTTP/3 through a proxy: it uses UDP, which no proxy of the settings carries.
fn check_http_version(cx: &mut RuleContext<'_>) {
    if !cx.has_field("http_version") || !cx.are_valid(&["http_version", "proxy_id"]) {
        return;
    }
    let document = cx.document();
    if document.text("http_version") == Some("3") && document.int_or_zero("proxy_id") != 0 {
        let message = "`http_version` 3 cannot be used with `proxy_id`: no proxy carries its UDP".to_owned();
        cx.add_conflict_with_hint("http_version", message, "use 2 or 1.1 through a proxy".to_owned());
    }
}

fn check_body(cx: &mut RuleContext<'_>) {
    let document = cx.document();
    if cx.has_field("post_body") && document.text("post_body").is_some() {
        let method = document.text("http_method").unwrap_or_default();
        if !BODY_METHODS.contains(&method) && cx.are_valid(&["http_method"]) {
            let methods = "POST, PUT, PATCH or DELETE";
            cx.add_conflict(
                "post_body",
                format!("`post_body` needs `http_method` {methods}, which is {method}"),
            );
        }
    }
}

fn check_intervals(cx: &mut RuleContext<'_>) {
    let settings = cx.document().settings();
    let (minutes, seconds) = (settings.schedule.interval_minutes, settings.interval_seconds);
    if let Some(seconds) = seconds.filter(|_| minutes != 1 && cx.are_valid(&["interval", "interval_seconds"]))
    {
        let message =
            format!("`interval` must be 1 or left out with `interval_seconds` {seconds}, not {minutes}");
        cx.add_conflict("interval", message);
    }
}

fn check_keyword(cx: &mut RuleContext<'_>) {
    let document = cx.document();
    let is_regex = document.text("keyword_match_type") == Some("Regular Expression");
    if !is_regex || !cx.are_valid(&["keyword_match_type", "keyword_string"]) {
        return;
    }
    if let Some(problem) = document.text("keyword_string").and_then(regex_error) {
        let message = format!("`keyword_string` {problem}");
        cx.add_error(ValidationErrorKind::Format, "keyword_string", message);
    }
}

/// Checks types that require at least one of two fields.
fn check_alternatives(cx: &mut RuleContext<'_>) {
    let (first, second) = match cx.document().monitor_type() {
        MonitorType::BrowserScript => ("script", "url"),
        MonitorType::SecurityScan => ("hostname", "url"),
        _ => return,
    };
    let document = cx.document();
    if document.text(first).is_none() && document.text(second).is_none() && cx.are_valid(&[first, second]) {
        cx.add_error(
            ValidationErrorKind::MissingField,
            first,
            format!("`{first}` or `{second}` is required"),
        );
    }
}

/// Checks that the host of the provider is known: from the monitor, or from the settings.
fn check_provider_host(cx: &mut RuleContext<'_>) {
    let is_mobile = matches!(cx.document().monitor_type(), MonitorType::MobileCloud | MonitorType::MobileLab);
    if is_mobile
        && cx.context().requires_provider_host
        && cx.document().text("hostname").is_none()
        && cx.are_valid(&["hostname"])
    {
        let message = "`hostname` is required: the settings name no provider".to_owned();
        cx.add_error(ValidationErrorKind::MissingField, "hostname", message).hint =
            Some("give the host of the provider, or set `mobile.provider_host`".to_owned());
    }
}

fn check_dialogue(cx: &mut RuleContext<'_>) {
    if !cx.has_field("dialogue") {
        return;
    }
    for (index, line) in cx.document().list("dialogue").iter().enumerate() {
        let path = format!("dialogue[{index}]");
        let expect = line.get("expect").and_then(Value::as_str);
        if expect.is_none() && line.get("send").is_none() {
            cx.add_error(
                ValidationErrorKind::MissingField,
                &path,
                format!("`{path}` needs `send`, `expect` or both"),
            );
        }
        if let Some(problem) = expect.and_then(regex_error) {
            let path = format!("{path}.expect");
            cx.add_error(ValidationErrorKind::Format, &path, format!("`{path}` {problem}"));
        }
    }
}

fn check_thresholds(cx: &mut RuleContext<'_>) {
    if !cx.has_field("thresholds") {
        return;
    }
    for (index, threshold) in cx.document().list("thresholds").iter().enumerate() {
        if threshold.get("warning").is_none() && threshold.get("error").is_none() {
            let path = format!("thresholds[{index}]");
            cx.add_error(
                ValidationErrorKind::MissingField,
                &path,
                format!("`{path}` needs `warning`, `error` or both"),
            );
        }
    }
}

/// Checks that only admins change how many steps a script may have (fields.md 3).
fn check_steps_allowed(cx: &mut RuleContext<'_>) {
    if !cx.context().author_is_not_admin || !cx.has_field("transaction_steps_allowed") {
        return;
    }
    let field = "transaction_steps_allowed";
    let current = cx.input.previous.map_or(50, |old| old.int_or_zero(field));
    if cx.document().int_or_zero(field) != current && cx.are_valid(&[field]) {
        cx.add_conflict(field, format!("`{field}` is for admins to change; it is `{current}`"));
    }
}
