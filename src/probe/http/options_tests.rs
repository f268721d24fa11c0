//! Tests of the conversion from fields to options.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, USER_AGENT};
use serde_json::{Value, json};

use super::*;
use crate::domain::MonitorType;

fn options(fields: Value) -> Result<WebsiteOptions, String> {
    let mut values = json!({"url": "http://example.test/a?b#c"});
    let fields = fields.as_object().unwrap().clone();
    values.as_object_mut().unwrap().extend(fields);
    let Value::Object(values) = values else { unreachable!() };
    let document = MonitorDocument::new(MonitorType::Website, values)
        .map_err(|error| format!("{}: {}", error.path, error.reason))?;
    WebsiteOptions::from_document(&document, &ProbeBuildContext::default())
        .map_err(|error| format!("{}: {}", error.path, error.reason))
}

#[test]
fn the_url_loses_credentials_and_fragment_and_takes_the_port() {
    let options = options(json!({"url": "http://me:secret@example.test:81/a?b#c", "port": 8080})).unwrap();
    assert_eq!(options.url.as_str(), "http://example.test:8080/a?b");
    assert!(options.credentials.is_some());
    assert!(!format!("{options:?}").contains("secret"));
}

#[test]
fn request_headers_follow_the_fields() {
    let headers = |fields| options(fields).unwrap().request_headers.to_header_map();
    assert_eq!(headers(json!({}))[CACHE_CONTROL], "no-cache");
    assert!(!headers(json!({"http_caching": "Enabled"})).contains_key(CACHE_CONTROL));
    assert!(!headers(json!({})).contains_key(CONTENT_TYPE));
    assert_eq!(headers(json!({"http_method": "POST"}))[CONTENT_TYPE], "application/x-www-form-urlencoded");
    assert_eq!(headers(json!({"http_method": "POST", "post_content_type": "a/b"}))[CONTENT_TYPE], "a/b");
    let custom_headers = json!({"http_headers": [
        {"name": "user-agent", "value": "mine"}, {"name": "X-A", "value": "1"}, {"name": "x-a", "value": "2"},
    ]});
    let custom_headers = headers(custom_headers);
    assert_eq!(custom_headers.get_all(USER_AGENT).iter().count(), 1);
    assert_eq!(custom_headers[USER_AGENT], "mine");
    assert_eq!(custom_headers.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn an_address_pins_only_when_names_are_not_resolved() {
    let pinned = |fields| options(fields).unwrap().connect_options.pinned_host.map(|(_, address)| address);
    assert_eq!(pinned(json!({"ip_address": "::1", "resolve_dns": false})), Some("::1".parse().unwrap()));
    assert_eq!(pinned(json!({"ip_address": "::1", "resolve_dns": true})), None);
    assert_eq!(pinned(json!({"ip_address": "", "resolve_dns": false})), None);
}

#[test]
fn an_invalid_field_is_named_in_the_error() {
    for (fields, field) in [
        (json!({"url": null}), "url"),
        (json!({"url": "no url"}), "url"),
        (json!({"url": "ftp://a/"}), "url"),
        (json!({"port": 0}), "port"),
        (json!({"port": 65536}), "port"),
        (json!({"http_method": "TRACE"}), "http_method"),
        (json!({"http_version": "4"}), "http_version"),
        (json!({"ip_address": "x", "resolve_dns": false}), "ip_address"),
        (json!({"ipv6_enabled": "Maybe"}), "ipv6_enabled"),
        (json!({"http_method": "POST", "post_content_type": "a\nb"}), "post_content_type"),
        (json!({"http_headers": [{"name": "Host", "value": "x"}]}), "http_headers"),
        (json!({"http_headers": [{"name": "a b", "value": "x"}]}), "http_headers"),
        (json!({"http_headers": [{"name": "x", "value": "a\r\nb: c"}]}), "http_headers"),
    ] {
        let error = options(fields.clone()).unwrap_err();
        assert!(error.starts_with(field), "{fields}: {error}");
    }
}

#[test]
fn a_million_idle_websites_fit_into_two_gigabytes() {
    // The URL's text, the document and the schedule add about a kilobyte.
    let size = std::mem::size_of::<WebsiteOptions>();
    assert!(size <= 480, "{size} bytes");
}
