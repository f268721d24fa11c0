//! Any text with placeholders and any value: no value escapes its context.

use std::time::Duration;

use serde_json::{Value, json};
use vigie::evaluate::assertion::{ParsedResponse, Assertion};
use vigie::evaluate::template::{EscapeContext, Template, Variables};
use vigie::evaluate::variable::VariableExtractor;
use vigie::domain::Timestamp;

const CONTEXTS: [EscapeContext; 9] = [
    EscapeContext::Url,
    EscapeContext::Header,
    EscapeContext::Login,
    EscapeContext::Json,
    EscapeContext::Form,
    EscapeContext::Xml,
    EscapeContext::Body,
    EscapeContext::Value,
    EscapeContext::Regex,
];

// Input: the value of `v` up to a line feed, then a text for every context.
pub fn run(data: &[u8]) {
    let Ok(all) = std::str::from_utf8(data) else { return };
    let (value, text) = all.split_once('\n').unwrap_or((all, ""));
    let mut variables = Variables::new(Timestamp::from_seconds(1_700_000_000), 7);
    variables.set("v", value.to_owned());
    for escape in CONTEXTS {
        let template = Template::new(text, escape);
        match template.render(&variables) {
            Ok(filled) => assert!(template.has_placeholders() || filled == text, "{escape:?} changes `{text}`"),
            Err(failure) => assert!(template.has_placeholders() && !failure.detail.is_empty(), "{failure}"),
        }
    }
    let filled = |text: &str, escape: EscapeContext| Template::new(text, escape).render(&variables).ok();
    check_url(filled("http://a.test/x/{{v}}/y?q={{v}}&r=1#f", EscapeContext::Url), value);
    check_header(filled("Bearer {{v}}", EscapeContext::Header));
    let document = filled(r#"{"a":"{{v}}","b":1}"#, EscapeContext::Json).expect("a string takes any value");
    let document: Value = serde_json::from_str(&document).unwrap_or_else(|error| panic!("{document}: {error}"));
    assert_eq!(document, json!({"a": value, "b": 1}));
    let form = filled("a={{v}}&b=1", EscapeContext::Form).expect("a form takes any value");
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    assert_eq!(pairs, [("a".to_owned(), value.to_owned()), ("b".to_owned(), "1".to_owned())], "{form}");
    // XML cannot express most control characters, nor the two noncharacters.
    if !value.contains(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) {
        check_xml(&filled("<r a='{{v}}' b=\"{{v}}\">{{v}}</r>", EscapeContext::Xml).expect("so does XML"), value);
    }
    if value.len() < 1000 {
        check_expression(&filled("^{{v}}$", EscapeContext::Regex).expect("so does an expression"), value);
    }
}

/// The value is one segment of the path and one value of the query.
fn check_url(filled: Option<String>, value: &str) {
    let Some(filled) = filled else {
        return assert!(matches!(value, "." | ".."), "`{value}` is refused in a URL");
    };
    let url = url::Url::parse(&filled).unwrap_or_else(|error| panic!("{filled}: {error}"));
    assert_eq!((url.host_str(), url.fragment()), (Some("a.test"), Some("f")), "{filled}");
    let parts: Vec<&str> = url.path_segments().expect("it has a path").collect();
    assert!(parts.len() == 3 && parts[0] == "x" && parts[2] == "y", "{filled}");
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    assert_eq!(pairs, [("q".to_owned(), value.to_owned()), ("r".to_owned(), "1".to_owned())], "{filled}");
}

fn check_header(filled: Option<String>) {
    if let Some(filled) = filled {
        assert!(http::HeaderValue::from_bytes(filled.as_bytes()).is_ok(), "{filled:?}");
    }
}

fn check_xml(filled: &str, value: &str) {
    let response = ParsedResponse::new(200, Duration::ZERO, &[], filled);
    for path in ["string(/r)", "string(/r/@a)", "string(/r/@b)"] {
        let variable = json!({"name": "w", "property": path, "source": "XML Response"});
        let found = VariableExtractor::new(&serde_json::from_value(variable.clone()).unwrap()).expect("a path").extract(&response, "text/xml", &vigie::evaluate::PatternCache::default());
        assert_eq!(found.as_deref().ok(), Some(value), "{path} of {filled}");
    }
}

/// The value matches itself as an expression.
fn check_expression(filled: &str, value: &str) {
    let document = json!({"source": "Response", "comparison": "regular expression includes", "value": filled});
    let assertion = Assertion::new(&serde_json::from_value(document.clone()).unwrap()).unwrap_or_else(|error| panic!("{filled}: {error}"));
    let failure = assertion.evaluate(&ParsedResponse::new(200, Duration::ZERO, &[], value));
    assert!(failure.is_none(), "{filled}: {failure:?}");
}
