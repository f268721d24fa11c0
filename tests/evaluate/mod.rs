//! Tests the evaluation of responses: the JSONPath compliance suite, XPath, assertions, and hostile responses.

mod assertions;
mod bounds;
mod compliance;
mod properties;
mod xpath;

use std::time::Duration;

use serde_json::{Value, json};
use vigie::evaluate::assertion::{Assertion, ParsedResponse};

/// Returns an assertion as in a monitor document.
fn document(source: &str, property: &str, comparison: &str, value: &str) -> Value {
    json!({"source": source, "property": property, "comparison": comparison, "value": value})
}

/// Returns why the assertion fails for `text`, or `None` when it holds.
fn failure(source: &str, property: &str, comparison: &str, value: &str, text: &str) -> Option<String> {
    let headers = [
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Length", "120"),
        ("Set-Cookie", "sid=geheim"),
        ("Via", "1.1 a"),
        ("via", "1.1 b"),
        ("X-Empty", ""),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let response = ParsedResponse::new(201, Duration::from_millis(1234), &headers, text);
    let document = document(source, property, comparison, value);
    let assertion = Assertion::new(&serde_json::from_value(document.clone()).unwrap())
        .unwrap_or_else(|error| panic!("{document}: {error}"));
    assertion.evaluate(&response).map(|failure| failure.detail)
}
