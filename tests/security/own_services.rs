//! No check and no notification reaches Vigie itself, and other accounts reach nothing on this host.

use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use super::{check, server_with_other_account};

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

#[test]
fn stored_monitors_and_recipients_that_are_denied_are_listed() {
    let (mut server, other) = server_with_other_account();
    let website = json!({"billing_plancode": "basic", "name": "Local", "url": "http://localhost:8080/"});
    let recipient = json!({"name": "Hook", "recipient": "http://127.0.0.1:9/", "method_id": 10});
    for (path, body) in [("/monitors/website", &website), ("/recipients", &recipient)] {
        for account in [1, other] {
            let (status, response) = server.call_in(account, "POST", path, body);
            assert_eq!(status, 200, "{response}");
        }
    }
    let data = server.folder.path().join("data");
    let check = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["config", "check"])
        .env("VIGIE_DATA", &data)
        .env("VIGIE_MONITORS", server.folder.path().join("monitors"))
        .output()
        .unwrap();
    let text = String::from_utf8(check.stdout).unwrap();
    let reason = "is an address of the Vigie host, which is denied to other accounts than the first; \
                  allow it for the account in `egress.accounts`";
    let (monitor, hook) = (
        format!("`Local` of account {other}: `127.0.0.1` {reason}"),
        format!("`Hook` of account {other}: `127.0.0.1` {reason}"),
    );
    assert!(check.status.success(), "{text}{}", String::from_utf8_lossy(&check.stderr));
    assert!(text.contains(&monitor) && text.contains(&hook), "{text}");
    assert_eq!(text.matches("warning: ").count(), 2, "{text}");
    server.restart();
    let logged = server.log_text();
    assert!(logged.contains(&monitor) && logged.contains(&hook), "{logged}");
}
