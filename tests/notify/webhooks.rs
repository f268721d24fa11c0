//! Webhooks against receivers that misbehave.

use std::time::{Duration, Instant};

use vigie::domain::{NotificationKind, NotificationMethod};
use vigie::notify::MessageSender;

use super::receiver::{Receiver, Response, status};
use super::samples::{channels, message, send};

fn json_post(receiver: &Receiver, path: &str, secret: &str) -> vigie::notify::OutgoingMessage {
    message(NotificationKind::SiteError, NotificationMethod::JsonPost, &receiver.url(path), secret)
}

// row: 2.1 alert_note
#[tokio::test]
async fn a_json_post_carries_every_field_of_the_table() {
    let receiver = Receiver::always(200).await;
    send(&json_post(&receiver, "/hook?team=1", "")).await.unwrap();
    let request = receiver.only_request();
    assert_eq!(request.line, "POST /hook?team=1 HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("idempotency-key"), Some("site_error-4711-1795262400000000-1"));
    assert_eq!(request.header("authorization"), None);
    let body = request.json();
    for (name, value) in [
        ("source", "vigie"),
        ("notify_type", "Site Error"),
        ("custid", "1"),
        ("company", "Example & Sons"),
        ("device_id", "7"),
        ("device_name", "Shop \"front\" <page>"),
        ("device_type", "website"),
        ("device_typecode", "website"),
        ("status", "7"),
        ("status_text", "HTTP error status"),
        ("errcount", "3"),
        ("http_status", "503"),
        ("location", "local"),
        ("location_num", "1"),
        ("timestamp", "2026-11-21T12:00:00Z"),
        ("transaction", "n"),
        ("url", "http://shop.test/"),
        ("step_num", ""),
        ("step_name", ""),
        ("alert_note", "call the night desk"),
        ("episode", "4711"),
    ] {
        assert_eq!(body[name], value, "{name} of {body}");
    }
    assert_eq!(body["rotated_locations"][0]["status"], "7");
    assert_eq!(body["rotated_locations"][0]["status_text"], "HTTP error status");
}

#[tokio::test]
async fn a_login_is_sent_as_basic_and_a_token_alone_as_bearer() {
    let receiver = Receiver::always(204).await;
    let mut message = json_post(&receiver, "/", "t0ken");
    send(&message).await.unwrap();
    message.recipient.username = "alice".to_owned();
    send(&message).await.unwrap();
    let requests = receiver.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer t0ken"));
    assert_eq!(requests[1].header("authorization"), Some("Basic YWxpY2U6dDBrZW4="));
}

#[tokio::test]
async fn a_slow_receiver_times_out_and_is_retried() {
    let receiver = Receiver::start(|_, _| Response::Silence(Duration::from_mins(1))).await;
    let started = Instant::now();
    let error = send(&json_post(&receiver, "/", "")).await.unwrap_err();
    assert!(error.is_retryable, "{error}");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[tokio::test]
async fn statuses_and_retry_after_decide_whether_and_when_to_retry() {
    for (code, is_retryable) in
        [(500, true), (503, true), (429, true), (404, false), (400, false), (410, false)]
    {
        let receiver = Receiver::always(code).await;
        let error = send(&json_post(&receiver, "/", "")).await.unwrap_err();
        assert_eq!(error.is_retryable, is_retryable, "{code}: {error}");
        assert!(error.detail.contains(&code.to_string()), "{error}");
    }
    let date = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(120);
    let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&date).unwrap();
    for (text, min, max) in [("7", 7, 7), (date.as_str(), 100, 120), ("999999", 3_600, 3_600)] {
        let headers = vec![("Retry-After", text.to_owned())];
        let receiver =
            Receiver::start(move |_, _| Response::Status(503, headers.clone(), String::new())).await;
        let error = send(&json_post(&receiver, "/", "")).await.unwrap_err();
        let delay = error.retry_after.unwrap().as_secs();
        assert!((min..=max).contains(&delay), "{text}: {delay}");
    }
}

#[tokio::test]
async fn a_secret_that_the_receiver_echoes_is_redacted() {
    let receiver = Receiver::start(|_, _| {
        Response::Status(401, Vec::new(), "no such token: t0ken-of-the-team".to_owned())
    })
    .await;
    let error = send(&json_post(&receiver, "/", "t0ken-of-the-team")).await.unwrap_err();
    assert_eq!(error.detail, "the receiver responded with status `401`: no such token: ********");
}

#[tokio::test]
async fn a_redirect_that_keeps_the_method_is_followed_without_credentials() {
    let target = Receiver::always(200).await;
    let url = target.url("/new");
    let receiver =
        Receiver::start(move |_, _| Response::Status(307, vec![("Location", url.clone())], String::new()))
            .await;
    send(&json_post(&receiver, "/old", "t0ken")).await.unwrap();
    let request = target.only_request();
    assert_eq!(request.line, "POST /new HTTP/1.1");
    assert_eq!(request.header("authorization"), None);
    assert!(request.header("idempotency-key").is_some());
    assert_eq!(request.body, receiver.only_request().body);
}

#[tokio::test]
async fn a_redirect_that_drops_the_body_or_loops_is_refused() {
    for code in [301, 302, 303] {
        let receiver = Receiver::start(move |_, _| {
            Response::Status(code, vec![("Location", "/login".to_owned())], String::new())
        })
        .await;
        let error = send(&json_post(&receiver, "/", "")).await.unwrap_err();
        assert!(!error.is_retryable && error.detail.contains("/login"), "{error}");
        receiver.only_request();
    }
    let receiver =
        Receiver::start(|_, _| Response::Status(308, vec![("Location", "/again".to_owned())], String::new()))
            .await;
    let error = send(&json_post(&receiver, "/", "")).await.unwrap_err();
    assert!(error.detail.contains("redirects"), "{error}");
    assert_eq!(receiver.requests().len(), 4);
}

#[tokio::test]
async fn a_denied_address_is_never_contacted_directly_or_by_a_redirect() {
    let denied = Receiver::always(200).await;
    let url = denied.url("/").replace("127.0.0.1", "127.0.0.2");
    let listener = tokio::net::TcpListener::bind(("127.0.0.2", denied.address.port())).await.unwrap();
    let location = url.clone();
    let receiver = Receiver::start(move |_, _| {
        Response::Status(307, vec![("Location", location.clone())], String::new())
    })
    .await;
    let channels = channels(&["127.0.0.2/32"]);
    for address in [receiver.url("/"), url] {
        let error = channels
            .send(&message(NotificationKind::Test, NotificationMethod::JsonPost, &address, ""))
            .await
            .unwrap_err();
        assert!(!error.is_retryable && error.detail.contains("egress"), "{error}");
    }
    let called = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(called.is_err(), "somebody called the denied address");
    assert_eq!(receiver.requests().len(), 1);
}

#[tokio::test]
async fn an_oversized_response_is_not_read_once_its_status_is_known() {
    let receiver = Receiver::start(|_, _| {
        Response::Status(200, vec![("X-Pad", "x".repeat(10_000))], "y".repeat(2_000_000))
    })
    .await;
    send(&json_post(&receiver, "/", "")).await.unwrap();
    let odd = Receiver::start(|_, _| status(299)).await;
    send(&json_post(&odd, "/", "")).await.unwrap();
}
