//! No check and no notification reaches Vigie itself, and other accounts reach nothing on this host.

use std::net::TcpListener;

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
    let mut body = json!({"billing_plancode": "basic", "name": kind, "retry_on_failure": false});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (status, response) = server.call_in(account, "POST", &format!("/monitors/{kind}"), &body);
    assert_eq!(status, 200, "{response}");
    let id = response["id"].as_str().unwrap();
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
    panic!("the test of {kind} did not end");
}

fn assert_denied(result: &Value, reason: &str) {
    assert_eq!((&result["status"], &result["outcome"]), (&json!(95), &json!("unknown")), "{result:#}");
    assert!(result["reasons"][0].as_str().unwrap().contains(reason), "{result:#}");
}

#[test]
fn no_check_reaches_the_server_itself() {
    let (server, other) = server_with_other_account();
    let port = server.address.port();
    for account in [1, other] {
        let reason = if account == 1 { "belongs to Vigie itself" } else { "an address of the Vigie host" };
        for host in ["127.0.0.1", "localhost", "127.8.8.8", "[::ffff:127.0.0.1]"] {
            let url = format!("http://{host}:{port}/readyz");
            assert_denied(&check(&server, account, "website", json!({"url": url})), reason);
        }
        let tcp = json!({"hostname": "127.0.0.1", "port": port});
        assert_denied(&check(&server, account, "tcp", tcp), reason);
        let step = json!({"step_name": "a", "url": format!("http://127.0.0.1:{port}/"), "http_method": "POST",
                          "head": {}});
        let api = json!({"api_steps": [step]});
        let result = check(&server, account, "website-api", api);
        assert!(result.to_string().contains(reason), "{result:#}");
    }
}

#[test]
fn other_accounts_reach_nothing_on_this_host_unless_the_settings_allow_it() {
    let (server, other) = server_with_other_account();
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = json!({"hostname": "127.0.0.1", "port": service.local_addr().unwrap().port()});
    let result = check(&server, other, "tcp", tcp.clone());
    assert_denied(&result, "allow it for the account in `egress.accounts`");
    assert_denied(
        &check(&server, other, "ping", json!({"hostname": "127.0.0.1"})),
        "an address of the Vigie host",
    );
    assert_eq!(check(&server, 1, "tcp", tcp)["outcome"], "ok");
}
