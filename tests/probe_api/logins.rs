//! Logins: Basic before and after a challenge, Digest, bearer tokens, and servers that must not receive them.

use serde_json::{Value, json};
use vigie::domain::FailureKind;

use crate::probe_api::check::{failed, get, passed, run, with};
use crate::probe_api::service::{Request, Response, Service, respond};

const BASIC: &str = "Basic bWU6c2VjcmV0";

fn logged_in(url: &str, preemptive: bool) -> Value {
    with(
        get("In", url),
        json!({"head": {"http_basic_auth_username": "me",
        "http_basic_auth_password": "secret", "preemptive_authentication": preemptive}}),
    )
}

fn require_basic(request: &Request) -> Response {
    match request.header("Authorization") {
        Some(BASIC) => respond(200, "", "in"),
        _ => respond(401, "WWW-Authenticate: Basic realm=\"r\"\r\n", "out"),
    }
}

#[tokio::test]
async fn basic_is_sent_after_a_challenge_or_preemptively() {
    for (preemptive, requests) in [(false, 2), (true, 1)] {
        let service = Service::start(require_basic).await;
        let observation = run(&[logged_in(&service.url("/"), preemptive)]).await;
        passed(&observation);
        assert_eq!(service.requests().len(), requests);
        assert_eq!(observation.details.steps[0].exchanges.len(), requests);
        assert!(!format!("{observation:?}").contains("bWU6"), "the login is kept nowhere");
    }
    let service = Service::start(require_basic).await;
    let observation = run(&[get("Out", &service.url("/"))]).await;
    failed(&observation, FailureKind::HttpErrorStatus, 7);
    let wrong = with(
        get("Wrong", &service.url("/")),
        json!({"head": {"http_basic_auth_username": "me",
        "http_basic_auth_password": "other"}}),
    );
    let observation = run(&[wrong]).await;
    failed(&observation, FailureKind::LoginRejected, 5);
    let url = service.url("/").replace("http://", "http://me:secret@");
    passed(&run(&[get("Of the URL", &url)]).await);
}

#[tokio::test]
async fn digest_challenges_are_answered() {
    let service = Service::start(|request| match request.header("Authorization") {
        Some(value) if value.starts_with("Digest ") && value.contains("uri=\"/a?b=c\"") => {
            respond(200, "", "in")
        }
        _ => respond(
            401,
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256\r\n",
            "",
        ),
    })
    .await;
    passed(&run(&[logged_in(&service.url("/a?b=c"), false)]).await);
    assert!(!service.last().head.contains("secret"));
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_server_after_a_redirect() {
    let other = Service::start(|_| respond(200, "", "other")).await;
    let redirect_url = other.url("/away");
    let service = Service::start(move |_| respond(302, &format!("Location: {redirect_url}\r\n"), "")).await;
    let bearer = with(
        get("Bearer", &service.url("/")),
        json!({"head": {"bearer_token": "t0k3n",
        "headers": [{"name": "X-Api-Key", "value": "k3y"}, {"name": "X-Other", "value": "goes along"}]}}),
    );
    for step in [bearer, logged_in(&service.url("/"), true)] {
        passed(&run(&[step]).await);
        let request = other.last();
        assert!(
            request.header("Authorization").is_none() && request.header("X-Api-Key").is_none(),
            "{request:?}"
        );
    }
    assert!(service.requests()[0].header("Authorization") == Some("Bearer t0k3n"));
    assert_eq!(other.requests()[0].header("X-Other"), Some("goes along"));
}

#[tokio::test]
async fn cookies_stay_with_their_host_and_path() {
    let other = Service::start(|_| respond(200, "", "")).await;
    let service = Service::start(|request| match request.target.as_str() {
        "/set" => respond(
            200,
            "Set-Cookie: a=1; Path=/in\r\nSet-Cookie: b=2; Path=/\r\nSet-Cookie: c=3; Domain=other.test\r\n",
            "",
        ),
        _ => respond(200, "", ""),
    })
    .await;
    let elsewhere = format!("http://localhost:{}/in", other.address.port());
    let mut steps = vec![
        get("Set", &service.url("/set")),
        get("In", &service.url("/in")),
        get("Out", &service.url("/out")),
    ];
    passed(&run(&steps).await);
    let cookies: Vec<_> =
        service.requests().iter().map(|request| request.header("Cookie").map(str::to_owned)).collect();
    let mut first: Vec<&str> = cookies[1].as_deref().unwrap().split("; ").collect();
    first.sort_unstable();
    assert_eq!((first, cookies[2].as_deref()), (vec!["a=1", "b=2"], Some("b=2")));
    steps.truncate(1);
    steps.push(get("Elsewhere", &elsewhere));
    let _ = run(&steps).await;
    assert!(other.requests().iter().all(|request| request.header("Cookie").is_none()));
}
