//! Requests as sent: methods, bodies, headers; and monitors whose requests cannot be built.

use serde_json::{Value, json};
use vigie::domain::{FailureKind, MonitorType};
use vigie::schema::MonitorDocument;

use crate::probe_api::check::{failed, get, passed, run, with};
use crate::probe_api::service::{Request, Service, respond};

async fn sent(step: Value) -> Request {
    let service = Service::start(|_| respond(200, "", "")).await;
    let step = with(step, json!({"url": service.url("/x")}));
    passed(&run(&[step]).await);
    service.last()
}

// row: 2.3 API Step.http_method; 2.3 API Step.post
#[tokio::test]
async fn methods_and_bodies_are_sent_as_written() {
    let post = |body: &str| json!({"content_type": "text/plain", "body": body});
    for (method, custom, body, line, length) in [
        ("GET", None, None, "GET /x HTTP/1.1", None),
        ("POST", None, None, "POST /x HTTP/1.1", Some("0")),
        ("POST", None, Some("abc"), "POST /x HTTP/1.1", Some("3")),
        ("CUSTOM", Some("PATCH"), Some("abc"), "PATCH /x HTTP/1.1", Some("3")),
        ("CUSTOM", Some("DELETE"), None, "DELETE /x HTTP/1.1", None),
        ("CUSTOM", Some("purge"), None, "purge /x HTTP/1.1", None),
        ("HEAD", None, None, "HEAD /x HTTP/1.1", None),
    ] {
        let mut step = with(get("S", ""), json!({"http_method": method}));
        if let Some(custom) = custom {
            step["custom_method"] = json!(custom);
        }
        if let Some(body) = body {
            step["post"] = post(body);
        }
        let request = sent(step).await;
        assert_eq!(request.head.lines().next(), Some(line));
        assert_eq!(request.header("Content-Length"), length, "{line}");
        assert_eq!(request.body, body.unwrap_or_default());
        assert_eq!(request.header("Content-Type"), body.map(|_| "text/plain"));
    }
}

#[tokio::test]
async fn a_form_is_the_default_and_multipart_bodies_are_completed() {
    let post = |post: Value| with(get("S", ""), json!({"http_method": "POST", "post": post}));
    let request = sent(post(json!({"body": "a=b"}))).await;
    assert_eq!(request.header("Content-Type"), Some("application/x-www-form-urlencoded"));
    let parts = "--X1\nContent-Disposition: form-data; name=\"a\"\n\n1\n--X1--\n";
    let request = sent(post(json!({"content_type": "multipart/form-data", "body": parts}))).await;
    assert_eq!(request.header("Content-Type"), Some("multipart/form-data; boundary=\"X1\""));
    assert_eq!(request.body, parts.replace('\n', "\r\n"));
    let given =
        json!({"content_type": "multipart/form-data; boundary=X1", "body": parts.replace('\n', "\r\n")});
    let request = sent(post(given)).await;
    assert_eq!(request.header("Content-Type"), Some("multipart/form-data; boundary=X1"));
    assert_eq!(request.body, parts.replace('\n', "\r\n"));
}

// row: 2.3 API Step.head
#[tokio::test]
async fn own_headers_replace_the_standard_ones() {
    let headers = json!([{"name": "accept", "value": "application/json"}, {"name": "User-Agent", "value": "me"},
        {"name": "X-A", "value": "1"}, {"name": "X-A", "value": "2"}, {"name": "Content-Type", "value": "text/csv"}]);
    let step = json!({"http_method": "POST", "head": {"headers": headers}, "post": {"body": "a"}});
    let request = sent(with(get("S", ""), step)).await;
    for (name, value) in
        [("Accept", "application/json"), ("User-Agent", "me"), ("Content-Type", "text/csv"), ("X-A", "1")]
    {
        assert_eq!(request.header(name), Some(value));
    }
    assert_eq!(request.head.to_ascii_lowercase().matches("x-a:").count(), 2);
    assert_eq!(request.head.to_ascii_lowercase().matches("accept:").count(), 1);
}

#[tokio::test]
async fn a_step_that_cannot_be_sent_fails_with_its_reason() {
    let broken = |fields: Value| with(get("S", "http://127.0.0.1:1/"), fields);
    for (step, text) in [
        (broken(json!({"url": "ftp://a/"})), "`url` of step 1 `S` cannot be used"),
        (broken(json!({"http_method": "CUSTOM", "custom_method": "a b"})), "`http_method` of step 1"),
        (broken(json!({"head": {"headers": [{"name": "a b", "value": ""}]}})), "`head.headers` of step 1"),
        (
            broken(json!({"assertions": [{"source": "Timeout", "comparison": "exists"}]})),
            "`assertions` of step 1 `S` cannot be used: the comparison `exists`",
        ),
        (
            broken(json!({"variables": [{"name": "a", "property": "$[", "source": "JSON Response"}]})),
            "`variables` of step 1 `S` cannot be used",
        ),
    ] {
        let observation = run(&[step]).await;
        let failure = failed(&observation, FailureKind::Internal, 21);
        assert!(failure.detail.contains(text), "{}", failure.detail);
    }
}

#[test]
fn an_unknown_source_makes_the_document_invalid() {
    let step = with(get("S", "http://127.0.0.1:1/"), json!({"assertions": [{"source": "Body"}]}));
    let Value::Object(fields) = json!({"api_steps": [step]}) else { unreachable!() };
    let error = MonitorDocument::new(MonitorType::WebsiteApi, fields).unwrap_err().to_string();
    assert!(error.starts_with("`api_steps[0].assertions[0].source` is `Body`: it must be one of"), "{error}");
}
