//! Requests as sent: request lines, header fields, bodies, cookies and logins.

use serde_json::{Value, json};
use vigie::domain::{Observation, WarningKind};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{Passes, Warns};
use crate::probe_http::server::{Act, Server, page, redirect, respond};

async fn requests(scripts: Vec<Vec<Act>>, path: &str, fields: Value) -> (Vec<String>, Observation) {
    let server = Server::start(scripts).await;
    let observation = Check::new(&server.url(path)).with(fields).run().await;
    (server.requests(), observation)
}

async fn first_request(fields: Value) -> String {
    let (requests, observation) = requests(vec![respond(page("x"))], "/a/b?c=d#e", fields).await;
    Passes.compare(&observation).unwrap();
    requests[0].clone()
}

fn field<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[tokio::test]
async fn a_plain_request_has_a_user_agent_and_disables_caches() {
    let request = first_request(json!({})).await;
    assert!(request.starts_with("GET /a/b?c=d HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
    for (name, value) in [
        ("User-Agent", concat!("vigie/", env!("CARGO_PKG_VERSION"))),
        ("Accept", "*/*"),
        ("Accept-Encoding", "gzip, deflate, br, zstd"),
        ("Connection", "close"),
        ("Cache-Control", "no-cache"),
        ("Pragma", "no-cache"),
    ] {
        assert_eq!(field(&request, name), Some(value), "{name}");
    }
    for absent in ["Cookie", "Authorization", "Content-Type", "Content-Length", "Transfer-Encoding"] {
        assert_eq!(field(&request, absent), None, "{absent}");
    }
}

// row: 2.8 website.http_method
#[tokio::test]
async fn every_method_is_sent_with_the_body_that_it_may_have() {
    for (method, length) in
        [("PUT", Some("3")), ("PATCH", Some("3")), ("DELETE", Some("3")), ("OPTIONS", None)]
    {
        let mut fields = json!({ "http_method": method });
        if length.is_some() {
            fields["post_body"] = "a=b".into();
        }
        let request = first_request(fields).await;
        assert!(request.starts_with(&format!("{method} /a/b?c=d HTTP/1.1\r\n")), "{request}");
        assert_eq!(field(&request, "Content-Length"), length, "{request}");
        assert_eq!(request.ends_with("\r\n\r\na=b"), length.is_some(), "{request}");
    }
    let empty_put = first_request(json!({"http_method": "PUT"})).await;
    assert_eq!(field(&empty_put, "Content-Length"), Some("0"));
    let bare_delete = first_request(json!({"http_method": "DELETE"})).await;
    assert_eq!(field(&bare_delete, "Content-Length"), None);
}

#[tokio::test]
async fn expected_statuses_alone_decide() {
    let response = |status: u16| respond(format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n"));
    for (statuses, status, passes) in [
        ("404,410", 404, true),
        ("404,410", 200, false),
        ("2xx", 204, true),
        ("200-204", 205, false),
        ("401", 401, true),
        ("500-599", 503, true),
    ] {
        let fields = json!({ "expected_statuses": statuses });
        let (_, observation) = requests(vec![response(status)], "/", fields).await;
        assert_eq!(observation.failure.is_none(), passes, "{statuses} {status}: {observation:?}");
        assert_eq!(observation.warnings, [], "{statuses} {status}");
        if let Some(failure) = observation.failure {
            assert!(failure.detail.contains("is not one of `expected_statuses`"), "{failure:?}");
        }
    }
    // A 302 that is not followed passes without a warning, and one that would be an error is not asked.
    let fields =
        json!({"expected_statuses": "302", "http_follow_redirects": false, "http_302_is_error": true});
    let (_, observation) = requests(vec![respond(redirect(302, "/next"))], "/", fields).await;
    assert_eq!((observation.failure, observation.warnings), (None, vec![]));
}

// row: 2.8 website.url; 2.8 website.http_version; 2.8 website.http_caching
#[tokio::test]
async fn fields_of_the_monitor_shape_the_request() {
    let cached = first_request(json!({"http_caching": "Enabled"})).await;
    assert_eq!(field(&cached, "Cache-Control"), None);
    let old = first_request(json!({"http_version": "1.0"})).await;
    assert!(old.starts_with("GET /a/b?c=d HTTP/1.0\r\nHost: "), "{old}");
    let head = first_request(json!({"http_method": "HEAD"})).await;
    assert!(head.starts_with("HEAD /a/b?c=d HTTP/1.1\r\n"), "{head}");
    let own = first_request(
        json!({"http_headers": [{"name": "X-Own", "value": "yes"}, {"name": "Accept", "value": "text/css"}]}),
    )
    .await;
    assert_eq!((field(&own, "X-Own"), field(&own, "Accept")), (Some("yes"), Some("text/css")));
}

#[tokio::test]
async fn a_post_carries_its_body() {
    let post = first_request(json!({"http_method": "POST", "post_body": "é=1"})).await;
    assert!(post.starts_with("POST ") && post.ends_with("\r\n\r\né=1"), "{post}");
    assert_eq!(field(&post, "Content-Length"), Some("4"));
    assert_eq!(field(&post, "Content-Type"), Some("application/x-www-form-urlencoded"));
    let json = first_request(
        json!({"http_method": "POST", "post_body": "{}", "post_content_type": "application/json"}),
    )
    .await;
    assert_eq!(field(&json, "Content-Type"), Some("application/json"));
    let empty = first_request(json!({"http_method": "POST"})).await;
    assert_eq!(field(&empty, "Content-Length"), Some("0"));
    let large = first_request(json!({"http_method": "POST", "post_body": "x".repeat(65_535)})).await;
    assert!(large.ends_with(&"x".repeat(65_535)));
}

#[tokio::test]
async fn redirects_change_the_method_as_browsers_do() {
    for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
        let scripts = vec![respond(redirect(status, "next?q")), respond(page("x"))];
        let fields = json!({"http_method": "POST", "post_body": "a=b"});
        let (requests, observation) = requests(scripts, "/a/b", fields).await;
        Passes.compare(&observation).unwrap();
        assert!(
            requests[1].starts_with(&format!("{method} /a/next?q HTTP/1.1\r\n")),
            "{status}: {}",
            requests[1]
        );
        assert_eq!(requests[1].ends_with("a=b"), method == "POST", "{status}");
        assert_eq!(field(&requests[1], "Content-Type").is_some(), method == "POST", "{status}");
        let facts = observation.facts.http.unwrap();
        assert_eq!(facts.redirects.len(), 1);
        assert_eq!(facts.redirects[0].http_status, status);
        assert!(facts.url.ends_with("/a/next?q"));
    }
}

#[tokio::test]
async fn phases_are_recorded_per_redirect_and_summed() {
    let (_, observation) =
        requests(vec![respond(redirect(302, "/b")), respond(page("x"))], "/a", json!({})).await;
    let hop = &observation.facts.http.as_ref().unwrap().redirects[0];
    assert!(hop.address.is_some());
    for (phase, micros) in hop.phases.iter() {
        assert!(observation.phases.micros(phase).unwrap() >= micros, "{phase:?}");
    }
    assert!(
        observation.phases.iter().map(|(_, micros)| u128::from(micros)).sum::<u128>()
            <= observation.duration.as_micros()
    );
}

#[tokio::test]
async fn cookies_are_kept_within_the_check() {
    let set = "HTTP/1.1 302 Go\r\nLocation: /next\r\nContent-Length: 0\r\n\
               Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/elsewhere\r\nSet-Cookie: c=3; Path=/; Secure\r\n\
               Set-Cookie: d=4; Domain=example.test\r\nSet-Cookie: e=5; Max-Age=0\r\nSet-Cookie: nonsense\r\n\r\n";
    let (requests, _) = requests(vec![respond(set), respond(page("x"))], "/", json!({})).await;
    assert_eq!(field(&requests[0], "Cookie"), None);
    // Loopback counts as secure, so that `Secure` does not hold back the third cookie.
    assert_eq!(field(&requests[1], "Cookie"), Some("a=1; c=3"));
}

#[tokio::test]
async fn a_redirect_that_requires_its_cookie_passes() {
    let set = "HTTP/1.1 302 Go\r\nLocation: /\r\nContent-Length: 0\r\nSet-Cookie: pass=1\r\n\r\n";
    let (requests, observation) = requests(vec![respond(set), respond(page("x"))], "/", json!({})).await;
    Passes.compare(&observation).unwrap();
    assert_eq!(field(&requests[1], "Cookie"), Some("pass=1"));
}

// row: 2.8 website.realm_userid; 2.8 website.realm_password
#[tokio::test]
async fn credentials_are_sent_after_a_challenge_and_then_reused() {
    let challenge = "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\", Basic realm=\"b\"\r\nContent-Length: 0\r\n\r\n";
    let scripts = vec![respond(challenge), respond(redirect(302, "/in")), respond(page("x"))];
    let (requests, observation) =
        requests(scripts, "/", json!({"realm_userid": "me", "realm_password": "pä:ss"})).await;
    Passes.compare(&observation).unwrap();
    let sent: Vec<_> = requests.iter().map(|request| field(request, "Authorization")).collect();
    assert_eq!(sent, [None, Some("Basic bWU6cMOkOnNz"), Some("Basic bWU6cMOkOnNz")]);
    assert_eq!(observation.facts.http.unwrap().redirects.len(), 1);
}

#[tokio::test]
async fn a_location_cannot_inject_header_fields() {
    let evil = respond(redirect(302, "/x\u{1}y%0d%0aX-Evil:%201 z"));
    let (requests, observation) = requests(vec![evil, respond(page("x"))], "/", json!({})).await;
    if observation.failure.is_none() {
        assert_eq!(field(&requests[1], "X-Evil"), None, "{}", requests[1]);
        assert!(requests[1].starts_with("GET /x"), "{}", requests[1]);
        assert_eq!(requests[1].lines().next().unwrap().split(' ').count(), 3, "{}", requests[1]);
    }
    let (requests, observation) =
        self::requests(vec![respond(redirect(302, "/x\tX-Evil: 1")), respond(page("x"))], "/", json!({}))
            .await;
    Passes.compare(&observation).unwrap();
    assert!(requests[1].starts_with("GET /xX-Evil:%201 HTTP/1.1\r\n"), "{}", requests[1]);
}

// row: 2.8 website.http_follow_redirects
#[tokio::test]
async fn a_redirect_that_is_not_followed_is_still_read() {
    let fields = json!({"http_follow_redirects": false, "keyword_string": "moved"});
    let response = "HTTP/1.1 302 Go\r\nLocation: /x\r\nContent-Length: 5\r\n\r\nmoved";
    let (requests, observation) = requests(vec![respond(response)], "/", fields).await;
    Warns(WarningKind::RedirectNotFollowed).compare(&observation).unwrap();
    assert_eq!(requests.len(), 1);
}
