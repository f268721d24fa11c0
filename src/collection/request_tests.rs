//! Requests with their placeholders replaced.

use serde_json::json;

use super::*;
use crate::collection::ScopeKind;

fn render(
    request: serde_json::Value,
    auth: Option<serde_json::Value>,
    behavior: &ProtocolBehavior,
) -> RenderedRequest {
    let mut scopes = VariableScopes::default();
    let entry = |name: &str, value: &str| (name.to_owned(), json!(value));
    scopes.set_entries(
        ScopeKind::Environment,
        vec![entry("host", "a.test"), entry("pw", "s3cret"), entry("m", "put")],
    );
    let cx = RenderContext {
        scopes: &scopes,
        files: &[],
        boundary: "B",
        now: Timestamp::parse("2026-11-27T12:00:00Z").unwrap(),
    };
    render_request(&request, auth.as_ref(), behavior, cx).ok().unwrap()
}

#[test]
fn placeholders_are_replaced_everywhere() {
    let request = json!({
        "method": "{{m}}", "url": "{{host}}/x",
        "header": [{"key": "X-{{host}}", "value": "{{pw}}"}, {"key": "off", "disabled": true}, {"key": "", "value": "x"}],
        "body": {"mode": "raw", "raw": "{\"h\":\"{{host}}\"}", "options": {"raw": {"language": "json"}}},
    });
    let rendered = render(request, None, &ProtocolBehavior::default());
    assert_eq!((rendered.method.as_str(), rendered.url.as_str()), ("PUT", "http://a.test/x"));
    assert_eq!(rendered.headers, [("X-a.test".to_owned(), "s3cret".to_owned())]);
    assert_eq!(rendered.body.unwrap().content, b"{\"h\":\"a.test\"}");
    let rendered =
        render(json!({"url": "a", "header": "A: {{host}}\nB: 2"}), None, &ProtocolBehavior::default());
    assert_eq!(rendered.headers, [("A".to_owned(), "a.test".to_owned()), ("B".to_owned(), "2".to_owned())]);
}

#[test]
fn logins_are_added_and_replace_header_fields() {
    let request = json!({"url": "http://a.test/?a=1", "header": [{"key": "authorization", "value": "old"}]});
    let with = |auth| render(request.clone(), Some(auth), &ProtocolBehavior::default());
    let basic = with(json!({"type": "basic", "basic": {"username": "u", "password": "{{pw}}"}}));
    assert_eq!(basic.headers, [("Authorization".to_owned(), "Basic dTpzM2NyZXQ=".to_owned())]);
    assert_eq!(basic.secrets, ["s3cret"]);
    let digest = with(json!({"type": "digest", "digest": {"username": "u", "password": "p"}}));
    assert_eq!(digest.digest, Some(("u".to_owned(), "p".to_owned())));
    let query = with(json!({"type": "apikey", "apikey": {"key": "k", "value": "v", "in": "query"}}));
    assert_eq!(query.url, "http://a.test/?a=1&k=v");
    let aws = with(json!({"type": "awsv4", "awsv4": {"accessKey": "A", "secretKey": "S", "service": "x"}}));
    assert!(
        aws.headers
            .iter()
            .any(|(name, value)| name == "Authorization" && value.starts_with("AWS4-HMAC-SHA256"))
    );
}

#[test]
fn bodies_of_get_are_left_out_unless_asked_for() {
    let request = json!({"url": "a", "body": {"mode": "raw", "raw": "x"}});
    assert!(render(request.clone(), None, &ProtocolBehavior::default()).body.is_none());
    let behavior = ProtocolBehavior { send_body_always: true, ..ProtocolBehavior::default() };
    assert_eq!(render(request, None, &behavior).body.unwrap().content, b"x");
}
