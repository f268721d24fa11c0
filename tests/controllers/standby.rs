//! A controller that does not lead hands requests on: everything works whichever controller is asked.

use std::process::Output;

use serde_json::{Value, json};

use super::kit::{Cluster, monitor};
use crate::daemon::process::Daemon;

const PASSWORD: &str = "correct horse";

/// Guesses a password from the address of an attacker behind a proxy; returns the status.
fn guess(controller: &Daemon, number: usize) -> u16 {
    let body = json!({"username": format!("login {number}"), "password": "guess number 1"}).to_string();
    let headers = format!(
        "Host: localhost\r\nX-Forwarded-For: 198.51.100.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    controller.send_raw("POST", "/api/v3/access-tokens", &headers, &body).status
}

#[tokio::test]
async fn everything_works_at_the_controller_that_does_not_lead() {
    let cluster = Cluster::start().await;
    let mut first = cluster.controller("first");
    first.wait_for_log("requests are served");
    let mut second = cluster.controller("second");
    let (leader, standby) = ((&first, "first"), (&second, "second"));

    // The token of this host, for account 1 and for another one.
    let (status, created) = cluster.call(standby, "POST", "/monitors/tcp", &monitor("of the standby"));
    assert_eq!(status, 200, "{created}");
    let (status, listed) = cluster.call(leader, "GET", "/monitors", &Value::Null);
    assert_eq!((status, &listed["results"][0]["name"]), (200, &json!("of the standby")));
    let other_account = format!("{}~99", cluster.token("second"));
    assert_eq!(second.call_with_token(&other_account, "GET", "/monitors", &Value::Null).0, 404);
    // That of a host where no controller leads is for requests there.
    assert_eq!(first.call_with_token(&cluster.token("second"), "GET", "/monitors", &Value::Null).0, 401);

    // A sign-in at one is valid at the other, and guesses at both count together.
    let user = json!({"login": "anna", "role": "ADMIN", "password": PASSWORD});
    let (status, body) = cluster.call(standby, "POST", "/users", &user);
    assert_eq!(status, 200, "{body}");
    let credentials = json!({"username": "anna", "password": PASSWORD});
    let (status, token) = second.call_with_token("", "POST", "/access-tokens", &credentials);
    assert_eq!(status, 200, "{token}");
    let token = token["access_token"].as_str().unwrap().to_owned();
    assert_eq!(first.call_with_token(&token, "GET", "/monitors", &Value::Null).0, 200);
    let both = [&first, &second].into_iter().cycle();
    let statuses: Vec<_> = (0..30).zip(both).map(|(number, controller)| guess(controller, number)).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 20, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 10, "{statuses:?}");

    // The audit trail names the client, not the controller that handed its request on.
    let (_, trail) = cluster.call(standby, "GET", "/audit?limit=200", &Value::Null);
    assert!(trail.to_string().contains("\"198.51.100.1\""), "{trail}");

    // Pages, and which controller worked.
    let page = second.send_raw("GET", "/sign-in", "Host: localhost\r\n", "");
    assert_eq!((page.status, page.headers("vigie-controller")), (200, vec!["first".to_owned()]));
    for path in ["/healthz", "/readyz"] {
        let own = second.send_raw("GET", path, "Host: localhost\r\n", "");
        assert_eq!((own.status, own.headers("vigie-controller")), (200, vec!["second".to_owned()]), "{path}");
    }

    // What somebody says to be handed on is not believed.
    let forged = "Host: localhost\r\nVigie-Forwarded: 1;1795176000000;192.0.2.7;;1;AAAA\r\n";
    assert_eq!(first.send_raw("GET", "/api/v3/monitors", forged, "").status, 400);

    first.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(first.wait_for_exit().success());
    second.wait_for_log("requests are served");
    assert_eq!(
        cluster.call((&second, "second"), "GET", "/monitors", &Value::Null).1["results"][0]["name"],
        "of the standby"
    );
}

#[tokio::test]
async fn a_controller_that_shares_nothing_is_told_what_is_missing() {
    let cluster = Cluster::start().await;
    let text = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let without_database = cluster.command("a").env("VIGIE_STORE_URL", "sqlite:x.db").output().unwrap();
    assert!(
        text(&without_database).contains("controllers share a PostgreSQL database"),
        "{without_database:?}"
    );
    let with_files = cluster.command("a").env("VIGIE_MONITORS", "/tmp").output().unwrap();
    assert!(text(&with_files).contains("a controller reads no monitor files"), "{with_files:?}");
    let data = cluster.data_of("b");
    for (file, message) in [("nats-trust.sealed", "no keys of NATS"), ("vigie.key", "vigie.key")] {
        std::fs::remove_file(data.join(file)).unwrap();
        let mut command = std::process::Command::new(crate::support::binary::program());
        command.args(["controller", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
        let output = command.env("VIGIE_STORE_URL", "postgres://vigie@127.0.0.1:1/x").output().unwrap();
        assert!(text(&output).contains(message), "{file}: {output:?}");
        assert!(text(&output).contains("hint: `vigie nats init DIR`") || file != "vigie.key", "{output:?}");
    }
    let everywhere = cluster.command_at("c", "0.0.0.0:0").output().unwrap();
    assert!(text(&everywhere).contains("set `controller.url`"), "{everywhere:?}");
    for url in
        ["https://127.0.0.1:1", "http://user:word@127.0.0.1:1", "http://127.0.0.1:1/?token=word", "127.0.0.1"]
    {
        let output = cluster.command("d").env("VIGIE_CONTROLLER_URL", url).output().unwrap();
        assert!(text(&output).contains("must be `http://HOST:PORT`"), "{url}: {output:?}");
        assert!(!text(&output).contains("word"), "{output:?}");
    }
}
