//! Who asks: Basic before and after it is asked for, Digest, bearer tokens, and where none of them goes.

use serde_json::{Value, json};
use vigie::domain::FailureKind;

use crate::probe_api::check::{failed, get, passed, run, with};
use crate::probe_api::service::{Asked, Reply, Service, says};

const BASIC: &str = "Basic bWU6c2VjcmV0";

fn logged_in(url: &str, preemptive: bool) -> Value {
    with(
        get("In", url),
        json!({"head": {"http_basic_auth_username": "me",
        "http_basic_auth_password": "secret", "preemptive_authentication": preemptive}}),
    )
}

fn asks_for_basic(asked: &Asked) -> Reply {
    match asked.header("Authorization") {
        Some(BASIC) => says(200, "", "in"),
        _ => says(401, "WWW-Authenticate: Basic realm=\"r\"\r\n", "out"),
    }
}

#[tokio::test]
async fn basic_goes_when_it_is_asked_for_or_at_once() {
    for (preemptive, requests) in [(false, 2), (true, 1)] {
        let service = Service::start(asks_for_basic).await;
        let observation = run(&[logged_in(&service.url("/"), preemptive)]).await;
        passed(&observation);
        assert_eq!(service.asked().len(), requests);
        assert_eq!(observation.details.steps[0].exchanges.len(), requests);
        assert!(!format!("{observation:?}").contains("bWU6"), "the login is kept nowhere");
    }
    let service = Service::start(asks_for_basic).await;
    let observation = run(&[get("Out", &service.url("/"))]).await;
    failed(&observation, FailureKind::HttpStatus, 7);
    let wrong = with(
        get("Wrong", &service.url("/")),
        json!({"head": {"http_basic_auth_username": "me",
        "http_basic_auth_password": "other"}}),
    );
    let observation = run(&[wrong]).await;
    failed(&observation, FailureKind::LoginRefused, 5);
    let url = service.url("/").replace("http://", "http://me:secret@");
    passed(&run(&[get("Of the URL", &url)]).await);
}

#[tokio::test]
async fn digest_is_answered() {
    let service = Service::start(|asked| match asked.header("Authorization") {
        Some(value) if value.starts_with("Digest ") && value.contains("uri=\"/a?b=c\"") => {
            says(200, "", "in")
        }
        _ => says(
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
async fn no_login_follows_a_redirect_to_another_server() {
    let other = Service::start(|_| says(200, "", "other")).await;
    let away = other.url("/away");
    let service = Service::start(move |_| says(302, &format!("Location: {away}\r\n"), "")).await;
    let bearer = with(
        get("Bearer", &service.url("/")),
        json!({"head": {"bearer_token": "t0k3n",
        "headers": [{"name": "X-Api-Key", "value": "k3y"}, {"name": "X-Other", "value": "goes along"}]}}),
    );
    for step in [bearer, logged_in(&service.url("/"), true)] {
        passed(&run(&[step]).await);
        let asked = other.last();
        assert!(asked.header("Authorization").is_none() && asked.header("X-Api-Key").is_none(), "{asked:?}");
    }
    assert!(service.asked()[0].header("Authorization") == Some("Bearer t0k3n"));
    assert_eq!(other.asked()[0].header("X-Other"), Some("goes along"));
}

#[tokio::test]
async fn cookies_stay_with_their_host_and_path() {
    let other = Service::start(|_| says(200, "", "")).await;
    let service = Service::start(|asked| match asked.target.as_str() {
        "/set" => says(
            200,
            "Set-Cookie: a=1; Path=/in\r\nSet-Cookie: b=2; Path=/\r\nSet-Cookie: c=3; Domain=other.test\r\n",
            "",
        ),
        _ => says(200, "", ""),
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
        service.asked().iter().map(|asked| asked.header("Cookie").map(str::to_owned)).collect();
    let mut first: Vec<&str> = cookies[1].as_deref().unwrap().split("; ").collect();
    first.sort_unstable();
    assert_eq!((first, cookies[2].as_deref()), (vec!["a=1", "b=2"], Some("b=2")));
    steps.truncate(1);
    steps.push(get("Elsewhere", &elsewhere));
    let _ = run(&steps).await;
    assert!(other.asked().iter().all(|asked| asked.header("Cookie").is_none()));
}
