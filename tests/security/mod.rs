//! Attacks that a user of one account could try on the host and on other accounts. Each promise of the manual's
//! security page has its test here.

mod logins;
mod names;
mod own_services;
mod pages;
mod patterns;
mod planted_secrets;
mod settings_objects;
mod slow_clients;
mod tokens;

use serde_json::{Value, json};

use crate::daemon::process::Daemon;

/// Starts a server and adds an account. Returns its id too.
fn server_with_other_account() -> (Daemon, i64) {
    let server = Daemon::start("");
    let (status, response) = server.call("POST", "/customers", &json!({"name": "Other"}));
    assert_eq!(status, 200, "{response}");
    let id = response["id"].as_str().unwrap().parse().unwrap();
    (server, id)
}

/// Creates a monitor in `account` and tests it on demand. Returns the result.
fn check(server: &Daemon, account: i64, kind: &str, fields: Value) -> Value {
    let id = create(server, account, kind, fields);
    check_monitor(server, account, &id)
}

/// Creates a monitor in `account`. Returns its id.
fn create(server: &Daemon, account: i64, kind: &str, fields: Value) -> String {
    let mut body = json!({"billing_plancode": "basic", "name": kind, "retry_on_failure": false});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (status, response) = server.call_in(account, "POST", &format!("/monitors/{kind}"), &body);
    assert_eq!(status, 200, "{response}");
    response["id"].as_str().unwrap().to_owned()
}

/// Tests a monitor of `account` on demand. Returns the result.
fn check_monitor(server: &Daemon, account: i64, id: &str) -> Value {
    let (status, test) = server.call_in(account, "POST", &format!("/tests?monitor_id={id}"), &json!({}));
    assert_eq!(status, 200, "{test}");
    let path = format!("/tests/{}", test["id"].as_str().unwrap());
    for _ in 0..400 {
        let (_, test) = server.call_in(account, "GET", &path, &Value::Null);
        if !test["result"].is_null() {
            return test["result"].clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the test of monitor {id} did not end");
}
