//! The limits of interface.md 8 for monitors: values up to the limit are accepted, values above are refused.

use serde_json::{Value, json};
use vigie::domain::Role;

use crate::support::app::{App, website};

// row: 8 name of a monitor or of its clone; 8 note, alert_note; 8 URL; 8 name of a content view
// row: 8 user names and passwords of mail monitors, values of a password bulk edit
// row: 8 property and value of an assertion; 8 port; 8 step_timeout; 8 monitor_offset; 8 interval, timeout
#[tokio::test]
async fn limits_of_texts_and_numbers_are_enforced() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let url = |characters: usize| json!(format!("http://a.example/{}", "x".repeat(characters - 17)));
    let text = |characters: usize| json!("ü".repeat(characters));
    let api = |assertion: Value| {
        json!({"billing_plancode": "b", "name": "n", "api_steps": [
            {"url": "http://a.example/", "step_name": "s", "http_method": "GET", "head": {}, "assertions": [assertion]}]})
    };
    let header = |property: usize, value: usize| {
        let property = "x".repeat(property);
        api(
            json!({"source": "Header", "property": property, "comparison": "contains", "value": "v".repeat(value)}),
        )
    };
    let mail = |password: usize| json!({"billing_plancode": "b", "name": "n", "hostname": "m.example", "imap_username": "u", "imap_password": "p".repeat(password)});
    let browser = |more: Value| {
        let mut body = json!({"billing_plancode": "b", "name": "n", "url": "http://a.example/"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let tcp =
        |port: i64| json!({"billing_plancode": "b", "name": "n", "hostname": "a.example", "port": port});
    let mobile = |offset: i64| json!({"billing_plancode": "b", "name": "n", "api_key": "k", "hostname": "m.example", "run_configuration": "{}", "monitor_offset": offset});
    let cases: Vec<(&str, &str, Vec<Value>, Vec<Value>)> = vec![
        (
            "website",
            "name",
            [1, 254, 255].map(|n| website("", json!({"name": text(n)}))).to_vec(),
            [0, 256].map(|n| website("", json!({"name": text(n)}))).to_vec(),
        ),
        (
            "website",
            "note",
            [0, 1000].map(|n| website("n", json!({"note": text(n)}))).to_vec(),
            vec![website("n", json!({"note": text(1001)}))],
        ),
        (
            "website",
            "alert_note",
            vec![website("n", json!({"alert_note": text(1000)}))],
            vec![website("n", json!({"alert_note": text(1001)}))],
        ),
        (
            "website",
            "url",
            [20, 65534, 65535].map(|n| website("n", json!({"url": url(n)}))).to_vec(),
            vec![website("n", json!({"url": url(65536)}))],
        ),
        (
            "website",
            "port",
            [1, 65535].map(|n| website("n", json!({"port": n}))).to_vec(),
            [0, 65536, -1].map(|n| website("n", json!({"port": n}))).to_vec(),
        ),
        (
            "website",
            "interval",
            [1, 120].map(|n| website("n", json!({"interval": n}))).to_vec(),
            [0, 7, 121].map(|n| website("n", json!({"interval": n}))).to_vec(),
        ),
        (
            "website",
            "timeout",
            [1, 30].map(|n| website("n", json!({"timeout": n}))).to_vec(),
            [0, 11, 301].map(|n| website("n", json!({"timeout": n}))).to_vec(),
        ),
        (
            "website",
            "monitor_location_count",
            vec![website("n", json!({"monitor_location_count": 0}))],
            vec![website("n", json!({"monitor_location_count": 1}))],
        ),
        ("tcp", "port", [1, 65535].map(tcp).to_vec(), [0, 65536].map(tcp).to_vec()),
        ("email-imap", "imap_password", [254, 255].map(mail).to_vec(), vec![mail(256)]),
        ("website-api", "assertions[0]", vec![header(256, 256)], vec![header(257, 1), header(1, 257)]),
        (
            "browserscript",
            "step_timeout",
            [0, 300].map(|n| browser(json!({"step_timeout": n}))).to_vec(),
            [-1, 301].map(|n| browser(json!({"step_timeout": n}))).to_vec(),
        ),
        ("mobilecloud", "monitor_offset", [1, 120].map(mobile).to_vec(), [0, 121].map(mobile).to_vec()),
    ];
    for (kind, field, valid, invalid) in cases {
        let path = format!("/monitors/{kind}");
        for body in valid {
            let reply = user.post(&path, body).await;
            assert_eq!(reply.status, 200, "{kind}.{field}: {}", reply.text);
        }
        for body in invalid {
            let messages = user.post(&path, body).await.refused(400);
            assert!(messages.iter().any(|message| message.contains(field)), "{kind}.{field}: {messages:?}");
        }
    }
}

// row: 8 name of a monitor or of its clone
#[tokio::test]
async fn the_limit_of_names_applies_to_clones() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let path = format!("/monitors/{id}/clone");
    user.post(&path, json!({"name": "x".repeat(255)})).await.id();
    user.post(&path, json!({"name": "x".repeat(256)})).await.refused(400);
    user.post(&path, json!({"nam": "x"})).await.refused(400);
    let copy = user.post(&path, json!({})).await.id();
    assert_eq!(user.get(&format!("/monitors/{copy}")).await.expect(200)["name"], "Copy of Shop");
}

/// Without limits, 2 MiB of unknown names took a minute, and the response was seven times as long as the request.
#[tokio::test]
async fn many_errors_are_reported_quickly_and_briefly() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let names: serde_json::Map<String, Value> = (0..100_000).map(|n| (format!("a{n}"), json!(1))).collect();
    let entries: Vec<Value> = (0..20_000).map(|_| json!({"billing_plancode": 1, "id": "x"})).collect();
    let long = json!({"x".repeat(1_000_000): 1});
    let query: Vec<String> = (0..8_000).map(|n| format!("q{n}=1")).collect();
    let started = std::time::Instant::now();
    for (path, body) in [
        ("/monitors/website", json!(names)),
        ("/events", json!(names)),
        ("/monitors/website", website("n", json!({"locations": entries}))),
        ("/monitors/website-api", json!({"api_steps": entries})),
        ("/apply", json!({"monitors": entries})),
        ("/monitors/website", long),
    ] {
        let messages = user.post(path, body).await.refused(400);
        assert!(messages.len() <= 150, "{path}: {} messages", messages.len());
        assert!(
            messages.iter().all(|message| message.len() < 1_000),
            "{path}: a message is as long as its cause"
        );
    }
    let messages = user.get(&format!("/monitors?{}", query.join("&"))).await.refused(400);
    assert!(messages.len() <= 101 && messages[0].contains("unknown parameter `q0`"), "{}", messages.len());
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}
