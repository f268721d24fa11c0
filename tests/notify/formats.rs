//! The formats that receivers specify: each request is checked as the receiver would.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigie::clock::SystemClock;
use vigie::domain::{LocationId, NotificationKind, NotificationMethod};
use vigie::notify::{ChannelSettings, MessageSender, NotificationChannels, Secret, SmsSettings};

use super::receiver::{Receiver, Request, Response, status};
use super::samples::{message, net, send, settings};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn bad_request(reason: &str) -> Response {
    Response::Status(400, Vec::new(), reason.to_owned())
}

/// Checks the rules of the Events API v2: required fields, lengths, closed sets, no unknown fields.
fn pager_duty(request: &Request) -> Response {
    let event = request.json();
    let known_fields =
        ["routing_key", "event_action", "dedup_key", "client", "client_url", "links", "images", "payload"];
    let payload_fields =
        ["summary", "source", "severity", "timestamp", "component", "group", "class", "custom_details"];
    let text = |value: &Value, min: usize, max: usize| {
        value.as_str().is_some_and(|text| (min..=max).contains(&text.chars().count()))
    };
    let payload = &event["payload"];
    let checks = [
        ("path", request.line.starts_with("POST /v2/enqueue ")),
        ("content type", request.header("content-type") == Some("application/json")),
        ("unknown fields", keys(&event).iter().all(|key| known_fields.contains(key))),
        ("unknown fields of the payload", keys(payload).iter().all(|key| payload_fields.contains(key))),
        ("routing_key", text(&event["routing_key"], 32, 32)),
        (
            "event_action",
            ["trigger", "acknowledge", "resolve"].contains(&event["event_action"].as_str().unwrap()),
        ),
        ("dedup_key", text(&event["dedup_key"], 1, 255)),
        ("summary", text(&payload["summary"], 1, 1024)),
        ("source", text(&payload["source"], 1, 1024)),
        (
            "severity",
            ["critical", "error", "warning", "info"].contains(&payload["severity"].as_str().unwrap()),
        ),
        ("timestamp", payload["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok()),
        ("custom_details", payload["custom_details"].is_object()),
    ];
    match checks.iter().find(|(_, holds)| !holds) {
        Some((what, _)) => bad_request(what),
        None => Response::Status(
            202,
            Vec::new(),
            json!({"status": "success", "dedup_key": event["dedup_key"]}).to_string(),
        ),
    }
}

#[tokio::test]
async fn pagerduty_gets_events_of_version_2_and_a_clear_resolves_its_error() {
    let receiver = Receiver::start(|_, request| pager_duty(request)).await;
    for (kind, ..) in NotificationKind::ALL {
        let message = message(kind, NotificationMethod::PagerDuty, &receiver.url("/"), &"k".repeat(32));
        send(&message).await.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    }
    let events: BTreeMap<String, Value> = receiver
        .requests()
        .iter()
        .map(|request| (request.json()["payload"]["class"].as_str().unwrap().to_owned(), request.json()))
        .collect();
    assert_eq!(events["site_error"]["event_action"], "trigger");
    assert_eq!(events["site_clear"]["event_action"], "resolve");
    assert_eq!(events["site_error"]["dedup_key"], events["site_clear"]["dedup_key"]);
    assert_ne!(events["site_error"]["dedup_key"], events["performance_error"]["dedup_key"]);
    assert_ne!(events["site_error"]["dedup_key"], events["test"]["dedup_key"]);
    assert_eq!(events["no_data_clear"]["event_action"], "resolve");
    assert_eq!(events["no_data"]["dedup_key"], events["no_data_clear"]["dedup_key"]);
    assert_ne!(events["no_data"]["dedup_key"], events["site_error"]["dedup_key"]);
}

/// Every channel that programs read carries the key that an error and its clear share.
#[tokio::test]
async fn an_error_and_its_clear_have_the_same_key_in_every_channel_of_programs() {
    let key = "vigie-site-episode-4711";
    for method in NotificationMethod::ALL.map(|(method, ..)| method) {
        let is_trap = matches!(method, NotificationMethod::SnmpV1 | NotificationMethod::SnmpV2c);
        if method.is_read_by_people() || is_trap {
            continue;
        }
        let receiver = Receiver::always(200).await;
        for kind in [NotificationKind::SiteError, NotificationKind::SiteClear] {
            send(&message(kind, method, &receiver.url("/"), &"k".repeat(32))).await.unwrap();
        }
        for request in receiver.requests() {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            assert!(body.contains(key), "{method:?}: {body}");
        }
    }
}

#[tokio::test]
async fn performance_alerts_of_one_monitor_are_incidents_of_their_own() {
    let receiver = Receiver::start(|_, request| pager_duty(request)).await;
    let (error, clear) = (NotificationKind::PerformanceError, NotificationKind::PerformanceClear);
    for (kind, alert, location) in [(error, 5, 1), (error, 5, 2), (error, 6, 1), (clear, 5, 2)] {
        let mut message = message(kind, NotificationMethod::PagerDuty, &receiver.url("/"), &"k".repeat(32));
        message.content.episode_id = None;
        message.content.location_id = Some(LocationId(location));
        message.content.extra = json!({"alert_id": alert, "level": "warning"}).as_object().unwrap().clone();
        send(&message).await.unwrap();
    }
    let events: Vec<Value> = receiver.requests().iter().map(Request::json).collect();
    let names: Vec<&str> = events.iter().map(|event| event["dedup_key"].as_str().unwrap()).collect();
    let expected =
        ["vigie-performance-5-1", "vigie-performance-5-2", "vigie-performance-6-1", "vigie-performance-5-2"];
    assert_eq!(names, expected);
    assert_eq!(events[0]["payload"]["severity"], "warning");
    assert_eq!(events[3]["event_action"], "resolve");
}

#[tokio::test]
async fn a_wrong_routing_key_is_permanent_and_a_rate_limit_is_retried() {
    let receiver = Receiver::start(|_, request| pager_duty(request)).await;
    let wrong =
        message(NotificationKind::SiteError, NotificationMethod::PagerDuty, &receiver.url("/"), "short");
    let error = send(&wrong).await.unwrap_err();
    assert!(
        !error.is_retryable && error.detail.contains("routing_key") && !error.detail.contains("short"),
        "{error}"
    );
    let busy = Receiver::always(429).await;
    let message =
        message(NotificationKind::SiteError, NotificationMethod::PagerDuty, &busy.url("/"), &"k".repeat(32));
    assert!(send(&message).await.unwrap_err().is_retryable);
}

#[tokio::test]
async fn slack_gets_a_text_and_attachments_without_mentions() {
    let receiver = Receiver::start(|_, request| {
        let body = request.json();
        let known_fields = ["text", "attachments", "blocks", "username", "channel", "mrkdwn"];
        let attachment_fields = ["fallback", "color", "text", "fields", "ts", "title", "pretext", "footer"];
        let is_valid = body["text"].as_str().is_some_and(|text| !text.is_empty())
            && keys(&body).iter().all(|key| known_fields.contains(key))
            && keys(&body["attachments"][0]).iter().all(|key| attachment_fields.contains(key))
            && body["attachments"][0]["ts"].is_i64()
            && !request.body.contains(&b'<');
        if is_valid {
            Response::Status(200, Vec::new(), "ok".to_owned())
        } else {
            bad_request("invalid_payload")
        }
    })
    .await;
    let mut message =
        message(NotificationKind::SiteError, NotificationMethod::Slack, &receiver.url("/services/T0/B0"), "");
    message.subject.push_str(" <!channel> & <http://evil.test|click>");
    message.content.target = "http://a.test/<!here>".to_owned();
    send(&message).await.unwrap();
    assert_eq!(receiver.only_request().json()["attachments"][0]["color"], "danger");
    assert!(receiver.only_request().json()["text"].as_str().unwrap().contains("&lt;!channel&gt; &amp;"));
}

#[tokio::test]
async fn splunk_gets_an_event_with_its_token_and_exact_time() {
    let receiver = Receiver::start(|_, request| {
        let body = request.json();
        let known_fields = ["time", "host", "source", "sourcetype", "index", "fields", "event"];
        if request.header("authorization") != Some("Splunk 11111111-2222-3333-4444-555555555555") {
            return Response::Status(
                403,
                Vec::new(),
                json!({"text": "Invalid token", "code": 4}).to_string(),
            );
        }
        let time = body["time"].as_str().unwrap();
        let is_valid = request.line.starts_with("POST /services/collector/event ")
            && keys(&body).iter().all(|key| known_fields.contains(key))
            && body["event"].is_object()
            && time.parse::<f64>().is_ok();
        if is_valid {
            Response::Status(200, Vec::new(), json!({"text": "Success", "code": 0}).to_string())
        } else {
            status(400)
        }
    })
    .await;
    let token = "11111111-2222-3333-4444-555555555555";
    send(&message(NotificationKind::SiteError, NotificationMethod::SplunkHec, &receiver.url(""), token))
        .await
        .unwrap();
    let body = receiver.only_request().json();
    assert_eq!((&body["time"], &body["event"]["device_id"]), (&json!("1795262400.000000"), &json!("7")));
    let error =
        send(&message(NotificationKind::Test, NotificationMethod::SplunkHec, &receiver.url("/"), "other"))
            .await
            .unwrap_err();
    assert!(!error.is_retryable && error.detail.contains("Invalid token"), "{error}");
}

#[tokio::test]
async fn servicenow_gets_one_body_for_incidents_and_for_events() {
    let receiver = Receiver::start(|_, request| {
        let body = request.json();
        let text =
            |name: &str, max: usize| body[name].as_str().is_some_and(|text| text.chars().count() <= max);
        let number = |name: &str, of: &[&str]| body[name].as_str().is_some_and(|text| of.contains(&text));
        let is_valid = request.header("authorization") == Some("Basic dmlnaWU6c2VjcmV0")
            && text("short_description", 160)
            && text("description", 4000)
            && text("correlation_id", 100)
            && text("message_key", 1024)
            && number("urgency", &["1", "2", "3"])
            && number("impact", &["1", "2", "3"])
            && number("severity", &["0", "1", "2", "3", "4", "5"])
            && number("resolution_state", &["New", "Closing"])
            && jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M:%S", body["time_of_event"].as_str().unwrap())
                .is_ok()
            && serde_json::from_str::<Value>(body["additional_info"].as_str().unwrap())
                .is_ok_and(|info| info.is_object());
        if is_valid {
            Response::Status(201, Vec::new(), json!({"result": {"sys_id": "1"}}).to_string())
        } else {
            status(400)
        }
    })
    .await;
    for kind in [NotificationKind::SiteError, NotificationKind::SiteClear, NotificationKind::Digest] {
        let url = receiver.url("/api/now/table/em_event");
        let mut message = message(kind, NotificationMethod::ServiceNow, &url, "secret");
        message.recipient.username = "vigie".to_owned();
        send(&message).await.unwrap();
    }
    let requests = receiver.requests();
    assert_eq!(requests[0].json()["message_key"], requests[1].json()["message_key"]);
    assert_eq!(
        (&requests[0].json()["severity"], &requests[1].json()["severity"]),
        (&json!("1"), &json!("0"))
    );
}

#[tokio::test]
async fn a_form_carries_the_same_fields_with_escaped_values() {
    let receiver = Receiver::always(200).await;
    let mut message =
        message(NotificationKind::SiteError, NotificationMethod::FormPost, &receiver.url("/form"), "");
    message.content.monitor_name = "a&status=0\r\n=%41é".to_owned();
    send(&message).await.unwrap();
    let request = receiver.only_request();
    assert_eq!(request.header("content-type"), Some("application/x-www-form-urlencoded"));
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(&request.body).into_owned().collect();
    let values = |name: &str| {
        pairs.iter().filter(|(of, _)| of == name).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(values("device_name"), ["a&status=0\r\n=%41é"]);
    assert_eq!((values("status"), values("errcount")), (vec!["7"], vec!["3"]));
    let locations: Value = serde_json::from_str(values("rotated_locations")[0]).unwrap();
    assert_eq!(locations[0]["status"], "7");
}

#[tokio::test]
async fn reloaded_settings_apply_to_the_next_message() {
    let receiver = Receiver::always(200).await;
    let channels = NotificationChannels::new(net(&[]), std::sync::Arc::new(SystemClock), settings());
    let message = message(NotificationKind::SiteError, NotificationMethod::Sms, "+49 30 123456", "");
    let error = channels.send(&message).await.unwrap_err();
    assert!(error.is_retryable && error.detail.contains("`sms.url` is not set"), "{error}");
    let sms = SmsSettings {
        gateway_url: receiver.url("/send"),
        body_template: "text={{ text }}".to_owned(),
        body_is_json: false,
        sender: String::new(),
        username: String::new(),
        password: Secret::default(),
    };
    channels.set_settings(ChannelSettings { sms: Some(sms), ..settings() });
    channels.send(&message).await.unwrap();
    assert_eq!(receiver.requests().len(), 1);
    channels.set_settings(settings());
    assert!(channels.send(&message).await.is_err(), "the gateway is gone again");
}

#[tokio::test]
async fn an_sms_is_sent_through_the_configured_gateway() {
    let receiver = Receiver::always(200).await;
    let gateway = |json: bool, body: &str| {
        let sms = SmsSettings {
            gateway_url: receiver.url("/send"),
            body_template: body.to_owned(),
            body_is_json: json,
            sender: "Vigie".to_owned(),
            username: String::new(),
            password: Secret("t0ken".to_owned()),
        };
        let settings = ChannelSettings { sms: Some(sms), ..settings() };
        NotificationChannels::new(net(&[]), std::sync::Arc::new(SystemClock), settings)
    };
    let mut message = message(NotificationKind::SiteError, NotificationMethod::Sms, "+49 (30) 123-456", "");
    message.text.push_str(" \"&to=0900\" ");
    gateway(false, "to={{ to }}&text={{ text }}").send(&message).await.unwrap();
    gateway(true, "{\"to\": [{{ to }}], \"message\": {{ text }}, \"from\": {{ from }}}")
        .send(&message)
        .await
        .unwrap();
    let requests = receiver.requests();
    let pairs: BTreeMap<String, String> =
        url::form_urlencoded::parse(&requests[0].body).into_owned().collect();
    assert_eq!(pairs.len(), 2);
    assert_eq!(pairs["to"], "+4930123456");
    assert_eq!(pairs["text"], message.text.trim());
    assert!(pairs["text"].starts_with("Vigie: Site Error Shop"), "{}", pairs["text"]);
    assert_eq!(
        requests[1].json(),
        json!({"to": ["+4930123456"], "message": message.text.trim(), "from": "Vigie"})
    );
    assert_eq!(requests[0].header("authorization"), Some("Bearer t0ken"));
    let error = gateway(true, "{\"to\": \"{{ to }}\"}").send(&message).await.unwrap_err();
    assert!(error.is_retryable && error.detail.contains("sms.body"), "{error}");
    let error = send(&message).await.unwrap_err();
    assert!(error.is_retryable && error.detail.contains("`sms.url` is not set"), "{error}");
}
