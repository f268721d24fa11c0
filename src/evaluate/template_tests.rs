//! Tests of values in their contexts, and of rejected values.

use super::*;
use crate::redaction::redactor;

fn variables() -> Variables {
    let mut variables = Variables::new(Timestamp::from_micros(1_700_000_000_123_456), 0x1234_5678_9abc);
    for (name, value) in [
        ("id", "42"),
        ("scheme", "http"),
        ("text", "a b&c=d/é\"\\\n<"),
        ("split", "x\r\nSet-Cookie: a=b"),
        ("host", "other.test:81"),
        ("next", "/items?page=2"),
        ("url", "https://other.test/x?y=z"),
        ("user", "u@evil.test"),
        ("token", "s3cr3t value"),
        ("dot", "1.5"),
        ("here", "."),
        ("up", ".."),
        ("long", &"x".repeat(65_536)),
    ] {
        variables.set(name, value.to_owned());
    }
    variables
}

fn render(text: &str, context: EscapeContext) -> Result<String, String> {
    let rendered = Template::new(text, context).render(&variables());
    rendered.map_err(|failure| format!("{}: {}", failure.kind.label(), failure.detail))
}

#[test]
fn values_are_escaped_for_their_context() {
    let cases = [
        (EscapeContext::Url, "http://a.test/{{id}}/x", "http://a.test/42/x"),
        (EscapeContext::Url, "http://a.test/{{text}}", "http://a.test/a%20b%26c%3Dd%2F%C3%A9%22%5C%0A%3C"),
        (
            EscapeContext::Url,
            "http://a.test?q={{text}}",
            "http://a.test?q=a%20b%26c%3Dd%2F%C3%A9%22%5C%0A%3C",
        ),
        (EscapeContext::Url, "http://a.test/{{split}}", "http://a.test/x%0D%0ASet-Cookie%3A%20a%3Db"),
        (EscapeContext::Url, "http://a.test/{{dot}}?q={{up}}#{{here}}", "http://a.test/1.5?q=..#."),
        (EscapeContext::Url, "{{url}}", "https://other.test/x?y=z"),
        (EscapeContext::Url, "{{url}}&id={{id}}", "https://other.test/x?y=z&id=42"),
        (
            EscapeContext::Url,
            "{{url}}/{{text}}",
            "https://other.test/x?y=z/a%20b%26c%3Dd%2F%C3%A9%22%5C%0A%3C",
        ),
        (EscapeContext::Url, "http://{{host}}/a", "http://other.test:81/a"),
        (EscapeContext::Url, "http://a.test{{next}}", "http://a.test/items?page=2"),
        (EscapeContext::Url, "{{scheme}}://{{host}}/{{id}}", "http://other.test:81/42"),
        (EscapeContext::Url, "http://a.test:{{id}}/{{next}}", "http://a.test:42/%2Fitems%3Fpage%3D2"),
        (EscapeContext::Json, r#"{"a":"{{text}}","n":{{id}}}"#, r#"{"a":"a b&c=d/é\"\\\n<","n":42}"#),
        (
            EscapeContext::Json,
            r#"{"a":"\"{{id}}","b\\":{{text}}}"#,
            "{\"a\":\"\\\"42\",\"b\\\\\":a b&c=d/é\"\\\n<}",
        ),
        (EscapeContext::Form, "a={{text}}&b={{id}}", "a=a+b%26c%3Dd%2F%C3%A9%22%5C%0A%3C&b=42"),
        (EscapeContext::Xml, "<a b='{{text}}'/>", "<a b='a b&amp;c=d/é&quot;\\\n&lt;'/>"),
        (EscapeContext::Body, "{{text}}", "a b&c=d/é\"\\\n<"),
        (EscapeContext::Login, "{{text}}", "a b&c=d/é\"\\\n<"),
        (EscapeContext::Header, "Bearer {{token}}", "Bearer s3cr3t value"),
        (EscapeContext::Value, "{{dot}}", "1.5"),
        (EscapeContext::Regex, "^{{dot}}$", "^1\\.5$"),
        (EscapeContext::Body, "{{$timestamp}} {{$timestamp_ms}}", "1700000000 1700000000123"),
        (EscapeContext::Body, "{{$uuid}}", "00000000-0000-4000-8000-123456789abc"),
        (EscapeContext::Body, "{{ id }} {{#each}} {{1}} {{", "42 {{#each}} {{1}} {{"),
    ];
    for (context, text, expected) in cases {
        assert_eq!(render(text, context).as_deref(), Ok(expected), "{context:?} {text}");
    }
}

#[test]
fn values_that_are_invalid_in_their_context_are_rejected() {
    for (context, text, expected) in [
        (
            EscapeContext::Header,
            "{{split}}",
            "variable_invalid: `{{split}}` in a header: its value has a control",
        ),
        (
            EscapeContext::Url,
            "http://{{user}}/",
            "variable_invalid: `{{user}}` in the URL: its value is not a host",
        ),
        (EscapeContext::Url, "http://a.test{{split}}", "variable_invalid"),
        (
            EscapeContext::Url,
            "http://a.test/{{gone}}",
            "variable_unknown: `{{gone}}` in the URL was set by no step",
        ),
        (
            EscapeContext::Url,
            "http://a.test/b/{{up}}/c",
            "variable_invalid: `{{up}}` in the URL: its value is a step",
        ),
        (EscapeContext::Url, "http://a.test/b/{{here}}{{here}}/c", "variable_invalid: `{{here}}` in the URL"),
        (EscapeContext::Url, "{{scheme}}://a.test/.{{here}}/c", "variable_invalid: `{{here}}` in the URL"),
        (
            EscapeContext::Body,
            "{{$uuidd}}",
            "variable_unknown: `{{$uuidd}}` in the body is not a built-in variable",
        ),
        (EscapeContext::Value, "{{ID}}", "variable_unknown"),
        (
            EscapeContext::Body,
            &"{{long}}".repeat(17),
            "variable_invalid: the body has more than 1048576 bytes",
        ),
    ] {
        let error = render(text, context).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn bodies_are_escaped_by_their_media_type() {
    for (content_type, context) in [
        ("application/json; charset=utf-8", EscapeContext::Json),
        ("Application/Problem+JSON", EscapeContext::Json),
        ("application/x-www-form-urlencoded", EscapeContext::Form),
        ("text/xml", EscapeContext::Xml),
        ("application/soap+xml", EscapeContext::Xml),
        ("multipart/form-data; boundary=json", EscapeContext::Body),
        ("text/plain", EscapeContext::Body),
        ("", EscapeContext::Body),
    ] {
        assert_eq!(EscapeContext::from_content_type(content_type), context, "{content_type}");
    }
}

#[test]
fn secret_values_are_masked_in_every_encoding() {
    let mut variables = variables();
    variables.set("token", "s3cr3t \"v/".to_owned());
    variables.set("csrf_token", "abc".to_owned());
    let redactor = redactor::Redactor::from_secrets(variables.secret_values());
    let masked = |text| redactor.redact(text).into_owned();
    assert_eq!(masked(r#"{"t":"s3cr3t \"v/","u":"abc 42"}"#), r#"{"t":"********","u":"abc 42"}"#);
    assert_eq!(masked("?t=s3cr3t%20%22v%2F&u=s3cr3t+%22v%2F"), "?t=********&u=********");
    assert!(!format!("{variables:?}").contains("s3cr3t"));
}

#[test]
fn built_in_values_are_constant_in_an_attempt_and_differ_between_attempts() {
    let (first, second) = (Variables::new(Timestamp::from_seconds(0), u128::MAX), variables());
    assert_eq!(first.get("$uuid"), Some("ffffffff-ffff-4fff-bfff-ffffffffffff"));
    assert_eq!(first.get("$isoTimestamp"), Some("1970-01-01T00:00:00Z"));
    assert_ne!(first.get("$randomInt"), second.get("$randomInt"));
    assert_eq!(first.get("$uuid"), first.get("$uuid"));
}

#[test]
fn every_built_in_variable_of_scripts_has_a_value() {
    let variables = Variables::new(Timestamp::from_micros(0), 0);
    for name in crate::syntax::template::BUILT_IN_VARIABLES {
        assert!(variables.get(name).is_some_and(|value| !value.is_empty()), "{name}");
    }
}
