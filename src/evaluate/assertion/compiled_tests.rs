//! A table of assertions with their results, and hostile responses.

use serde_json::{Value, json};

use super::*;

const JSON: &str = r#"{"a":{"b":5,"t":"five","n":null,"f":1.0,"big":9007199254740993,"yes":true},
 "items":[{"id":1,"name":"one"},{"id":2,"name":"two"},{"id":3,"name":"three"}],"odd key":"x","s":"10.0"}"#;
const XML: &str = r#"<?xml version="1.0"?><!DOCTYPE r SYSTEM "http://127.0.0.1:1/never.dtd">
<r xmlns:p="urn:p"><item id="1">one</item><item id="2">two</item><p:price p:cur="EUR">10.50</p:price>
<deep><er>in <b>bold</b></er></deep><!-- note --></r>"#;
const TEXT: &str = "Hello World, all 42 systems are fine";

fn assertion_json(source: &str, property: &str, comparison: &str, value: &str) -> Value {
    json!({"source": source, "property": property, "comparison": comparison, "value": value})
}

fn headers() -> Vec<(String, String)> {
    [("Content-Type", "text/html"), ("Set-Cookie", "sid=geheim"), ("Via", "a"), ("via", "b"), ("Age", "10")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

fn assertion_failure(settings_json: &Value, text: &str) -> Option<Failure> {
    let headers = headers();
    let response = ParsedResponse::new(204, Duration::from_millis(1500), &headers, text);
    Assertion::new(&serde_json::from_value(settings_json.clone()).unwrap())
        .unwrap_or_else(|error| panic!("{settings_json}: {error}"))
        .evaluate(&response)
}

/// Short names of sources and comparisons, for the tables below.
const JS: &str = "JSON Response";
const XM: &str = "XML Response";
const IN: &str = "regular expression includes";
const EX: &str = "regular expression excludes";
const LE: &str = "less than or equal";
const NE: &str = "does not equal";
const NC: &str = "does not contain";
const NX: &str = "does not exist";

#[test]
fn each_source_and_comparison_gives_its_result() {
    let cases: &[(&str, &str, &str, &str, bool)] = &[
        ("Response", "", "equals", TEXT, true),
        ("Response", "", "equals", "Hello", false),
        ("Response", "", NE, "Hello", true),
        ("Response", "", "contains", "World", true),
        ("Response", "", "contains", "world", false),
        ("Response", "", NC, "World", false),
        ("Response", "", NC, "error", true),
        ("Response", "", IN, r"all \d+ systems", true),
        ("Response", "", IN, "(?i)HELLO", true),
        ("Response", "", EX, r"\d+", false),
        ("Response", "", EX, "down", true),
        (JS, "$.a.b", "equals", "5", true),
        (JS, "a.b", "equals", "5.0", true),
        (JS, "a.b", "equals", "6", false),
        (JS, "a.f", "equals", "1", true),
        (JS, "a.big", "equals", "9007199254740993", true),
        (JS, "a.big", "equals", "9007199254740992", false),
        (JS, "a.t", "equals", "five", true),
        (JS, "a.t", "equals", "\"five\"", true),
        (JS, "a.n", "equals", "null", true),
        (JS, "a.n", "exists", "1", true),
        (JS, "a.yes", "equals", "true", true),
        (JS, "s", "equals", "10", false),
        (JS, "['odd key']", "equals", "x", true),
        (JS, "..id", "count", "3", true),
        (JS, "items[*].id", "count", "4", false),
        (JS, "gone", "count", "0", true),
        (JS, "items[*].id", "equals", "2", true),
        (JS, "items[*].id", NE, "2", false),
        (JS, "items[*].id", NE, "9", true),
        (JS, "items[?@.id > 2].name", "equals", "three", true),
        (JS, "items[0]", "equals", r#"{"name":"one","id":1.0}"#, true),
        (JS, "items[0]", "equals", r#"{"name":"one"}"#, false),
        (JS, "items[*].id", LE, "1", true),
        (JS, "items[*].id", LE, "0.5", false),
        (JS, "a.t", LE, "5", false),
        (JS, "items[*].name", "contains", "hre", true),
        (JS, "items[*].name", NC, "hre", false),
        (JS, "items[*].name", IN, "^t", true),
        (JS, "items[*].name", EX, "^t", false),
        (JS, "gone", "equals", "1", false),
        (JS, "gone", NE, "1", true),
        (JS, "gone", NC, "1", true),
        (JS, "gone", EX, "1", true),
        (JS, "gone", "contains", "", false),
        (JS, "gone", "exists", "1", false),
        (JS, "gone", NX, "1", true),
        (JS, "a.b", NX, "1", false),
        (XM, "/r/item[1]", "equals", "one", true),
        (XM, "//item", "count", "2", true),
        (XM, "count(//item)", "equals", "2", true),
        (XM, "//item/@id", "equals", "2", true),
        (XM, "//item/@id", NE, "2", false),
        (XM, "//item[@id='2']", "contains", "tw", true),
        (XM, "//p:price", "equals", "10.5", true),
        (XM, "//p:price", LE, "10.49", false),
        (XM, "//p:price/@p:cur", "equals", "EUR", true),
        (XM, "//price", NX, "1", true),
        (XM, "//*[local-name()='price']", "exists", "1", true),
        (XM, "//deep", "equals", "in bold", true),
        (XM, "//comment()", "contains", "note", true),
        (XM, "//item", IN, "^(one|three)$", true),
        (XM, "//item", EX, "^three$", true),
        (XM, "//unknown:item", NX, "1", false),
        (XM, "//item/@unknown:id", NX, "1", false),
        (XM, "//@*[name()='unknown:id']", NX, "1", true),
        (XM, "//@xml:lang", NX, "1", true),
        (XM, "/child::r/child::p:*", "count", "1", true),
        ("Timeout", "", LE, "1.5", true),
        ("Timeout", "", LE, "1.499", false),
        ("Timeout", "", LE, "2", true),
        ("Status Code", "", "equals", "200, 204", true),
        ("Status Code", "", "equals", "200-299", true),
        ("Status Code", "", "equals", "2xx", true),
        ("Status Code", "", "equals", "200,3XX", false),
        ("Status Code", "", NE, "4xx,500-599", true),
        ("Status Code", "", NE, "204", false),
        ("Header", "content-type", "equals", "text/html", true),
        ("Header", "Via", "equals", "a, b", true),
        ("Header", "Age", "equals", "10.0", true),
        ("Header", "X-Gone", "exists", "1", false),
        ("Header", "X-Gone", NX, "1", true),
        ("Header", "X-Gone", NC, "a", true),
        ("Header", "VIA", "contains", "b", true),
        ("Header", "Content-Type", IN, "^text/", true),
        ("Header", "Content-Type", EX, "html", false),
    ];
    let mut wrong = Vec::new();
    for &(source, property, comparison, value, holds) in cases {
        let text = match source {
            JS => JSON,
            XM => XML,
            _ => TEXT,
        };
        let failure = assertion_failure(&assertion_json(source, property, comparison, value), text);
        if failure.is_none() != holds {
            wrong.push(format!("{source} {property} {comparison} {value}: {failure:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn repeated_set_cookie_fields_are_judged_one_by_one() {
    let headers =
        [("Set-Cookie", "a=1; Path=/"), ("set-cookie", "b=geheim; Expires=Wed, 25 Nov 2026; Secure")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let response = ParsedResponse::new(200, Duration::ZERO, &headers, "");
    for (comparison, value, holds) in [
        ("equals", "a=1; Path=/", true),
        (IN, "^b=.*Secure$", true),
        (IN, "^a=.*Secure$", false),
        (EX, "^a=[^,]*Secure", true),
        (NC, "geheim", false),
    ] {
        let settings_json = assertion_json("Header", "Set-Cookie", comparison, value);
        let compiled = Assertion::new(&serde_json::from_value(settings_json.clone()).unwrap()).unwrap();
        let failure = compiled.evaluate(&response);
        assert_eq!(failure.is_none(), holds, "{settings_json}: {failure:?}");
        let text = failure.map(|failure| failure.detail.replacen(value, "", 1)).unwrap_or_default();
        assert!(!text.contains("geheim"), "{text}");
    }
}

#[test]
fn invalid_assertions_are_rejected_when_loaded() {
    let many_descendants = "..a".repeat(5);
    let nested = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    for (source, property, comparison, value) in [
        ("Body", "", "equals", "1"),
        ("Response", "", "count", "1"),
        ("Response", "", "exists", "1"),
        ("Response", "", LE, "1"),
        ("Timeout", "", "equals", "1"),
        ("Timeout", "", LE, "soon"),
        ("Timeout", "", LE, "1.2345"),
        ("Timeout", "", LE, "-1"),
        ("Status Code", "", "contains", "200"),
        ("Status Code", "", "equals", "20x"),
        ("Status Code", "", "equals", "299-200"),
        ("Status Code", "", "equals", "200,"),
        ("Header", "Via", "count", "1"),
        ("Header", "", "exists", "1"),
        (JS, "", "exists", "1"),
        (JS, "$.[", "exists", "1"),
        (JS, "a", "count", "-1"),
        (JS, "a", LE, "nan"),
        (JS, &many_descendants, "exists", "1"),
        (JS, &nested, "exists", "1"),
        (XM, "//item[", "exists", "1"),
        (XM, &nested, "exists", "1"),
        (XM, "a", "matches", "1"),
        ("Response", "", IN, "("),
        ("Response", "", IN, r"\w{1000}{1000}"),
    ] {
        let settings_json = assertion_json(source, property, comparison, value);
        assert!(
            Assertion::new(&serde_json::from_value(settings_json.clone()).unwrap()).is_err(),
            "{settings_json}"
        );
    }
    assert!(Assertion::new(&AssertionSettings::default()).is_err());
}

#[test]
fn the_value_defaults_to_1() {
    let settings_json = json!({"source": JS, "property": "x", "comparison": "equals"});
    assert_eq!(assertion_failure(&settings_json, r#"{"x":1}"#), None);
    assert!(assertion_failure(&settings_json, r#"{"x":2}"#).is_some());
}

#[test]
fn failures_name_no_bodies_and_secrets() {
    let assertions = [
        assertion_json("Status Code", "", "equals", "200"),
        assertion_json("Timeout", "", LE, "1"),
        assertion_json("Response", "", "contains", "nothing"),
        assertion_json("Header", "Set-Cookie", "equals", "x"),
        assertion_json(JS, "$", "equals", "x"),
        assertion_json(JS, "items[*].name", "equals", "four"),
        assertion_json(JS, "items[*]", "count", "9"),
        assertion_json(JS, "gone", "exists", "1"),
        assertion_json("Status Code", "", "equals", "2xx"),
    ];
    let assertions: Vec<_> = assertions
        .iter()
        .map(|settings_json| Assertion::new(&serde_json::from_value(settings_json.clone()).unwrap()).unwrap())
        .collect();
    let headers = headers();
    let response = ParsedResponse::new(204, Duration::from_millis(1500), &headers, JSON);
    let failures = evaluate_all(&assertions, &response);
    assert!(failures.iter().all(|failure| failure.kind == FailureKind::AssertionFailed));
    assert!(failures.iter().all(|failure| failure.phase == Phase::Validate));
    let details: Vec<_> = failures.iter().map(|failure| failure.detail.as_str()).collect();
    let body = format!("Response contains `nothing`: found a text of {} bytes", JSON.len());
    assert_eq!(
        details,
        [
            "Status Code equals `200`: found 204",
            "Timeout less than or equal `1`: found 1.500 seconds",
            &body,
            "Header `Set-Cookie` equals `x`: found a value of 10 bytes",
            "JSON Response `$` equals `x`: found an object of 4",
            "JSON Response `items[*].name` equals `four`: found `one`, `two` … (3 nodes)",
            "JSON Response `items[*]` count `9`: found 3 nodes",
            "JSON Response `gone` exists: found nothing",
        ]
    );
    assert!(assertions[0].checks_status() && !assertions[1].checks_status());
    let long = assertion_failure(
        &assertion_json(JS, "x", "equals", "y"),
        &format!(r#"{{"x":"{}"}}"#, "ä\\n".repeat(9000)),
    );
    assert!(long.unwrap().detail.chars().count() < 120);
}

#[test]
fn an_unparsable_response_fails_every_comparison() {
    for (source, path) in [(JS, "a"), (XM, "//a")] {
        for comparison in ["exists", NX, NC, NE, "count"] {
            let failure = assertion_failure(&assertion_json(source, path, comparison, "0"), "<html><br>oops");
            assert!(failure.unwrap().detail.contains("the body is not "), "{source} {comparison}");
        }
    }
}

#[test]
fn hostile_responses_end_in_a_failure_not_in_an_overflow() {
    let xml = |depth: usize| format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let entities = r#"<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]><a>&c;</a>"#;
    let external = r#"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>"#;
    for text in [&xml(257), &xml(100_000), &"<a>".repeat(300_000), entities, external] {
        assert!(assertion_failure(&assertion_json(XM, "//a", "exists", "1"), text).is_some());
    }
    assert_eq!(assertion_failure(&assertion_json(XM, "//a//a//a", "contains", "x"), &xml(256)), None);
    let nodes = format!("<r>{}</r>", "<a/>".repeat(200_001));
    assert!(assertion_failure(&assertion_json(XM, "//a", "exists", "1"), &nodes).is_some());
    let json = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(assertion_failure(&assertion_json(JS, "$..*", "exists", "1"), &json).is_some());
    let expression = assertion_json("Response", "", IN, "(a+)+$");
    assert!(assertion_failure(&expression, &format!("{}!", "a".repeat(100_000))).is_some());
}

#[test]
fn an_assertion_can_be_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Assertion>();
}
