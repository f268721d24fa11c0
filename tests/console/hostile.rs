//! Text that tries to be markup or a script, in every field of text that the model has, on every page that shows it.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{Access, Field, FieldTable, FieldType};
use vigie::schema::json_schema::create_example;
use vigie::schema::table::{alerting, for_type};

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::Server;

/// Ends attributes and elements, runs scripts, and asks templates to compute.
const HOSTILE: &str =
    r#"'"></title></textarea></script><img src=x onerror=hostile()><script>hostile()</script>{{7*7}}&lt;"#;
/// For fields that take little.
const SHORT: &str = r#"'"><svg/onload=hostile()>"#;
const HOSTILE_URL: &str = "http://127.0.0.1:9/'%22%3E%3Cscript%3E?a=javascript:hostile()";

/// Whether a page has become what the text asks for.
const INFECTED: &str = "return window.hostile !== undefined || !!document.querySelector('img[src=x], svg[onload]')
    || [...document.querySelectorAll('script')].some((script) => !script.src)
    || [...document.querySelectorAll('[href], [action]')].some((link) => /^\\s*javascript:/i.test(link.getAttribute('href') ?? link.getAttribute('action')))";

fn is_settable(field: &Field) -> bool {
    field.access == Access::ReadWrite && !["key", "parent_key"].contains(&field.name)
}

/// Returns the values that may be set into a field of `field_type`, of which the server takes the first that is valid.
fn hostile_values(field_type: &FieldType) -> Vec<Value> {
    match field_type {
        FieldType::Text { .. } => [HOSTILE, SHORT, HOSTILE_URL].map(Value::from).to_vec(),
        FieldType::List { item_type, .. } => {
            hostile_values(item_type).into_iter().map(|item| json!([item])).collect()
        }
        FieldType::Object(table) => {
            // With every text, with the long ones only, and with those that are required.
            let object = |value: &str, is_included: &dyn Fn(&Field) -> bool| {
                let mut object = create_example(table);
                for field in table.fields().iter().filter(|field| is_settable(field) && is_included(field)) {
                    if let FieldType::Text { .. } = field.field_type {
                        object[field.name] = Value::from(value);
                    }
                }
                object
            };
            let is_any = |_: &Field| true;
            let is_required = |field: &Field| field.is_required_in_v3();
            let mut objects =
                vec![object(HOSTILE, &is_any), object(SHORT, &is_any), object(HOSTILE, &is_required)];
            // One by one, where they do not go together.
            for field in table.fields().iter().filter(|field| is_settable(field)) {
                objects.push(object(HOSTILE, &|other| other.name == field.name));
            }
            objects.push(create_example(table));
            objects
        }
        _ => Vec::new(),
    }
}

/// Creates an object at `path` and makes every text of it hostile that the server accepts; returns its id, and how many
/// fields are hostile.
fn create(
    server: &Server,
    path: &str,
    table: &'static FieldTable,
    fixed: &Map<String, Value>,
) -> (i64, usize) {
    let mut body = create_example(table);
    body.as_object_mut().unwrap().extend(fixed.clone());
    let (status, created) = server.request("POST", path, &body);
    assert!([200, 201].contains(&status), "{path}: {body} {created}");
    let id = created["id"].as_str().and_then(|id| id.parse().ok()).or(created["id"].as_i64());
    let id: i64 = id.unwrap_or_else(|| panic!("{path}: {created}"));
    let mut count = 0;
    for field in table.fields().iter().filter(|field| is_settable(field) && !fixed.contains_key(field.name)) {
        for value in hostile_values(&field.field_type) {
            let (status, answer) =
                server.request("PATCH", &format!("{path}/{id}"), &json!({field.name: value}));
            assert!([200, 400, 409].contains(&status), "{path} {}: {status} {answer}", field.name);
            if status == 200 {
                count += 1;
                break;
            }
        }
    }
    (id, count)
}

/// Starts a site whose answers are hostile.
fn start_site() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(
                stream,
                "HTTP/1.1 500 {SHORT}\r\nX-{HOSTILE}: a\r\nServer: {HOSTILE}\r\nContent-Type: {HOSTILE}\r\nSet-Cookie: {SHORT}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{HOSTILE}",
                HOSTILE.len()
            );
        }
    });
    port
}

#[tokio::test]
async fn hostile_text_is_shown_as_text_wherever_it_comes_from() {
    let server = Server::start("[]\n");
    let mut paths = vec!["/".to_owned(), "/?group=team".to_owned()];
    let mut count = 0;
    for kind in MonitorType::ALL {
        let (path, fixed) = (format!("/monitors/{}", kind.name()), json!({"enabled": false}));
        let (id, fields) = create(&server, &path, for_type(*kind), fixed.as_object().unwrap());
        count += fields;
        for page in ["", "/edit", "/history", "/remove", "/performance-alerts", "/performance-alerts/new"] {
            paths.push(format!("/monitors/{id}{page}"));
        }
    }
    for (path, table) in [("recipients", &alerting::RECIPIENT), ("templates", &alerting::TEMPLATE)] {
        let (id, fields) = create(&server, &format!("/{path}"), table, &Map::new());
        assert!(fields > 1, "{path}");
        paths.extend([
            format!("/account/{path}"),
            format!("/account/{path}/{id}"),
            format!("/account/{path}/{id}/remove"),
        ]);
    }
    assert!(count > 100, "only {count} fields of monitors took a hostile text");
    let all_columns = "/?column=id,key,type,target,last-run,duration,phases,day,day-durations,reason,since";
    paths.extend([all_columns.to_owned(), format!("/?q={}", urlencoded(HOSTILE))]);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    for path in &paths {
        browser.goto(&server.url(path)).await;
        assert_eq!(browser.eval(INFECTED).await, false, "{path}");
    }
    assert!(browser.text("#rows").await.contains("hostile()"), "the list shows the names");
    // What a site answers.
    let port = start_site();
    server.write_monitors(&format!(
        "- {{key: h, type: website, name: evidence, billing_plancode: x, url: 'http://127.0.0.1:{port}/', interval: 1, timeout: 10}}\n"
    ));
    browser.goto(&server.url("/?q=evidence")).await;
    browser.wait_for_text("#rows .pill", "error").await;
    browser.click("#rows a").await;
    browser.wait_for_text("h1", "evidence").await;
    assert_eq!(browser.eval(INFECTED).await, false, "the monitor");
    browser.click("#results tbody a").await;
    browser.wait_for_text(".breadcrumbs", "evidence").await;
    assert_eq!(browser.eval(INFECTED).await, false, "the result");
    browser.close().await;
}

fn urlencoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
