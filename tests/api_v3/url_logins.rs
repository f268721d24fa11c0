//! A login in the URL of a monitor is as secret as one in fields of its own.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, Role};

use crate::support::app::{App, website};
use crate::support::fields::Fields;

const SECRET: &str = "hunter2-7413";
const MASKED: &str = "https://********@shop.example.com/a";

fn url() -> Value {
    json!(format!("https://anna:{SECRET}@shop.example.com/a"))
}

fn steps(url: &Value) -> Value {
    let step = json!({"url": url, "step_name": "s", "http_method": "GET", "head": {}, "step_number": 1});
    json!({"billing_plancode": "b", "name": "steps", "api_steps": [step]})
}

#[tokio::test]
async fn a_login_in_a_url_is_masked_and_sealed() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let page = user.post("/monitors/website-ssl", website("shop", json!({"url": url()}))).await.id();
    let api = user.post("/monitors/website-ssl-api", steps(&url())).await.id();
    user.post(&format!("/monitors/{page}/clone"), json!({})).await.id();
    let changed = json!({"url": format!("https://anna:{SECRET}@shop.example.com/b")});
    user.patch(&format!("/monitors/website-ssl/{page}"), changed).await.id();
    let entry = website("n", json!({"key": "k", "type": "website-ssl", "url": url()}));
    let applied = user.post("/apply", json!({"monitors": [entry]})).await;
    let mut all = vec![applied.text];
    for path in ["/monitors", "/export", "/audit", &format!("/monitors/{page}"), &format!("/monitors/{api}")]
    {
        all.push(user.get(path).await.text);
    }
    // An error about a URL does not contain its login.
    let invalid = json!({"url": format!("https://anna:{SECRET}@")});
    all.push(user.post("/monitors/website-ssl", website("bad", invalid)).await.text);
    for text in &all {
        assert!(!text.contains(SECRET) && !text.contains("anna"), "{text}");
        assert!(text.contains("********@"), "{text}");
    }
    app.store.close().await;
    assert!(!contains(&app.files(), SECRET) && !contains(&app.files(), "anna:"), "it is in the database");
    let app = app.restarted().await;
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(api)).unwrap();
    assert_eq!(monitor.document.list("api_steps")[0]["url"], url(), "a restart lost it");
}

#[tokio::test]
async fn a_masked_url_keeps_its_login_for_the_same_host_only() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let page = user.post("/monitors/website-ssl", website("shop", json!({"url": url()}))).await.id();
    let api = user.post("/monitors/website-ssl-api", steps(&url())).await.id();
    let current = |id: i64| app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    user.patch(&format!("/monitors/website-ssl/{page}"), json!({"url": MASKED, "note": "x"})).await.id();
    assert_eq!(current(page).document.value("url"), Some(&url()));
    user.patch(&format!("/monitors/website-ssl-api/{api}"), steps(&json!(MASKED))).await.id();
    assert_eq!(current(api).document.list("api_steps")[0]["url"], url());
    let elsewhere = json!({"url": "https://********@evil.example.com/a"});
    let messages = user.patch(&format!("/monitors/website-ssl/{page}"), elsewhere).await.refused(400);
    assert!(messages[0].contains("`url` is masked"), "{messages:?}");
    let path = format!("/monitors/website-ssl-api/{api}");
    let messages = user.patch(&path, steps(&json!("https://********@evil.test/"))).await.refused(400);
    assert!(messages[0].contains("`api_steps[0].url` is masked"), "{messages:?}");
    let messages =
        user.post("/monitors/website-ssl", website("new", json!({"url": MASKED}))).await.refused(400);
    assert!(messages[0].contains("`url` is masked"), "{messages:?}");
    assert_eq!(current(page).document.value("url"), Some(&url()));
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

#[tokio::test]
async fn a_credential_header_is_secret_and_kept_by_its_name_only() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let header = |name: &str, value: &str| json!({"name": name, "value": value});
    let first = format!("Bearer {SECRET}");
    let headers = json!([
        header("X-Shop", "plain"),
        header("Authorization", &first),
        header("X-Api-Key", "hunter2-key")
    ]);
    let page = user.post("/monitors/website", website("shop", json!({"http_headers": headers}))).await.id();
    let step = json!({"url": "https://a.test/", "step_name": "s", "http_method": "GET", "head": {"headers": headers}});
    let api = json!({"billing_plancode": "b", "name": "steps", "api_steps": [step]});
    user.post("/monitors/website-ssl-api", api).await.id();
    let mut all = String::new();
    for path in ["/monitors", "/export", "/audit"] {
        all.push_str(&user.get(path).await.text);
    }
    assert!(!all.contains("hunter2") && all.contains("plain") && all.contains("********"), "{all}");
    let current = |app: &App| {
        let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(page)).unwrap();
        monitor.document.value("http_headers").cloned().unwrap()
    };
    // Sent back in another order and without one of the headers.
    let back = json!({"http_headers": [header("X-Api-Key", "********"), header("X-Shop", "now")]});
    user.patch(&format!("/monitors/website/{page}"), back).await.id();
    let expected = json!([header("X-Api-Key", "hunter2-key"), header("X-Shop", "now")]);
    assert_eq!(current(&app), expected);
    let stray = json!({"http_headers": [header("Authorization", "********")]});
    let messages = user.patch(&format!("/monitors/website/{page}"), stray).await.refused(400);
    assert!(messages[0].contains("`http_headers[0].value` is masked"), "{messages:?}");
    app.store.close().await;
    assert!(!contains(&app.files(), "hunter2"), "it is in the database");
    assert_eq!(current(&app.restarted().await), expected, "a restart lost it");
}
