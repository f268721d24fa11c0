//! The running server: addresses, TLS, request ids, access to the pages.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::daemon::process::{Daemon, command, folder, tcp_monitor};

// row: 9 /legacy-api; 9 /api/v3
#[test]
fn several_addresses_are_served_and_calls_logged_with_id_and_login() {
    let folder = folder(&tcp_monitor("a", 9));
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command.args(["serve", "--listen", "127.0.0.1:0,[::1]:0"]).arg("--data").arg(folder.path().join("data"));
    command.arg("--monitors").arg(folder.path().join("monitors"));
    command.env("VIGIE_LOG_FORMAT", "json").env("VIGIE_LOG_LEVEL", "info,vigie::web=debug");
    command.stderr(Stdio::piped());
    let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    let second = daemon.wait_for_log("serving at");
    assert!(second["address"].as_str().unwrap().starts_with("[::1]:"), "{second}");
    let headers = format!("Authorization: Bearer {}\r\nX-Request-Id: my-call-7\r\n", daemon.token());
    let (status, body) = daemon.get_with_headers("/api/v3/monitors", &headers);
    assert!(status == 200 && body.contains(r#""name":"a""#), "{body}");
    let line = daemon.wait_for_log("request completed");
    assert_eq!((&line["request_id"], &line["login"]), (&"my-call-7".into(), &"host".into()));
    assert_eq!((&line["status"], &line["path"]), (&200.into(), &"/api/v3/monitors".into()));
    assert!(line["total_us"].is_u64());
    assert_eq!(daemon.get_with_headers("/api/v3/monitors", "").0, 401);
}

#[test]
fn pages_need_a_login_and_metrics_a_token_or_an_allowed_network() {
    let daemon = Daemon::start(&tcp_monitor("a", 9));
    let proxied = "X-Forwarded-For: 192.0.2.7\r\n";
    let bearer = |token: &str| format!("{proxied}Authorization: Bearer {token}\r\n");
    for path in ["/", "/monitors/1", "/manual/"] {
        for headers in ["", proxied, &bearer("no")] {
            assert_eq!(daemon.get_with_headers(path, headers).0, 401, "{path} {headers}");
        }
        assert_eq!(daemon.get_with_headers(path, &bearer(&daemon.token())).0, 200, "{path}");
    }
    assert_eq!(daemon.get_with_headers("/metrics", "").0, 200);
    assert_eq!(daemon.get_with_headers("/metrics", proxied).0, 401);
    assert_eq!(daemon.get_with_headers("/metrics", &bearer("no")).0, 401);
    assert_eq!(daemon.get_with_headers("/metrics", &bearer(&daemon.token())).0, 200);
    for path in ["/healthz", "/readyz", "/style.css"] {
        assert_eq!(daemon.get_with_headers(path, proxied).0, 200, "{path}");
    }
    let legacy = daemon.get_with_headers("/legacy-api/devices", "");
    assert!(legacy.0 == 200 && legacy.1.contains(r#""status":"40""#), "{legacy:?}");
}

#[test]
fn without_an_allowed_network_metrics_need_a_token_on_this_host_too() {
    let folder = folder(&tcp_monitor("a", 9));
    let mut command = command(folder.path());
    command.env("VIGIE_SERVER_METRICS_ALLOW", "192.0.2.0/24");
    let daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    assert_eq!(daemon.get_with_headers("/metrics", "").0, 401);
    let bearer = format!("Authorization: Bearer {}\r\n", daemon.token());
    assert_eq!(daemon.get_with_headers("/metrics", &bearer).0, 200);
}

#[test]
fn the_demo_prints_a_sign_in_link_that_its_log_does_not_contain() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
        .env("VIGIE_LOG_FORMAT", "json")
        .env("VIGIE_LOG_LEVEL", "trace")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = BufReader::new(child.stdout.take().unwrap());
    let mut daemon = Daemon::from_child(child, tempfile::tempdir().unwrap());
    let lines = printed.lines().map_while(Result::ok);
    let prefix = format!("  http://{}/sign-in/link?token=", daemon.address);
    let token = lines.into_iter().find_map(|line| Some(line.strip_prefix(&prefix)?.to_owned())).unwrap();
    let headers = format!("Host: {}\r\nContent-Length: {}\r\n", daemon.address, token.len() + 6);
    let response = daemon.send_raw("POST", "/sign-in/link", &headers, &format!("token={token}"));
    assert_eq!(response.status, 303, "{}", response.body);
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("no result was lost");
    assert!(!daemon.log_text().contains(&token));
}

#[test]
fn the_demo_begins_with_thirty_days_of_history() {
    let child = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
        .env("VIGIE_LOG_FORMAT", "json")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let data = std::env::temp_dir().join(format!("vigie-demo-{}-0/data", child.id()));
    let mut daemon = Daemon::from_child(child, tempfile::tempdir().unwrap());
    let token = fs::read_to_string(data.join("host-token")).unwrap();
    let bearer = format!("Authorization: Bearer {}\r\n", token.lines().next().unwrap());
    let count = |path: &str| {
        let (status, body) = daemon.get_with_headers(&format!("/api/v3/{path}"), &bearer);
        assert_eq!(status, 200, "{path}: {body}");
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        body["metadata"]["resultset"]["count"].as_u64().unwrap()
    };
    // Agreements are written last.
    let until = Instant::now() + Duration::from_mins(1);
    while count("slas?limit=1") < 2 {
        assert!(Instant::now() < until, "the demo has no history after a minute");
        std::thread::sleep(Duration::from_millis(200));
    }
    let results = count("results?limit=1");
    assert!(results > 55_000, "{results} results");
    let outages = count("episodes?limit=1&open=false");
    assert!(outages >= 10, "{outages} outages");
    assert_eq!(count("events?limit=1"), 4);
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("no result was lost");
    assert!(!data.exists(), "the data of the demo are still there");
}

/// Writes a certificate and its key for `localhost`.
fn write_certificate(folder: &Path) {
    let generated = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("cert.pem"), generated.cert.pem()).unwrap();
    fs::write(folder.join("key.pem"), generated.signing_key.serialize_pem()).unwrap();
}

/// Runs `vigie monitors` over TLS, trusting the certificate in the folder of `daemon`.
fn run_monitors(daemon: &Daemon) -> Output {
    let folder = daemon.folder.path();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    let url = format!("https://localhost:{}", daemon.address.port());
    command.args(["monitors", "--server", &url]).arg("--ca-file").arg(folder.join("cert.pem"));
    command.env("VIGIE_DATA", folder.join("data")).env("XDG_CONFIG_HOME", folder.join("config"));
    command.output().unwrap()
}

#[test]
fn commands_on_the_host_of_a_tls_server_need_no_options() {
    let folder = folder(&tcp_monitor("over tls", 9));
    write_certificate(folder.path());
    let mut command = command(folder.path());
    command.env("VIGIE_SERVER_TLS_CERT_FILE", folder.path().join("cert.pem"));
    command.env("VIGIE_SERVER_TLS_KEY_FILE", folder.path().join("key.pem"));
    let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    let run = |daemon: &Daemon, data: &str, text: &str| {
        let folder = daemon.folder.path();
        let url = format!("{}:{}", "//127.0.0.1", daemon.address.port());
        let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
        command.args(text.replace("//", &url).split(' ')).current_dir(folder);
        command.env("VIGIE_DATA", folder.join(data)).env("XDG_CONFIG_HOME", folder.join("config"));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), text + &String::from_utf8_lossy(&output.stdout))
    };
    for is_reloaded in [false, true] {
        if is_reloaded {
            write_certificate(daemon.folder.path());
            daemon.wait_for_log("server certificate reloaded");
        }
        // The certificate is for `localhost`, so it is recognised by its fingerprint.
        for (text, part) in [
            ("monitors --server https:// --limit 1", "over tls"),
            ("user list", "admin"),
            ("customer list", "default"),
            ("customer add Shop", if is_reloaded { "409" } else { "was added" }),
        ] {
            let result = run(&daemon, "data", text);
            assert!(result.1.contains(part), "{text}: {result:?}");
        }
    }
    let elsewhere = run(&daemon, "other", "monitors --server https://");
    assert!(!elsewhere.0 && elsewhere.1.contains("hint: `--ca-file FILE`"), "{elsewhere:?}");
    let plain = run(&daemon, "data", "monitors --server http://");
    assert!(!plain.0 && plain.1.contains("hint: if it uses TLS"), "{plain:?}");
}

#[test]
fn commands_use_tls_and_an_invalid_new_certificate_is_ignored() {
    let folder = folder(&tcp_monitor("over tls", 9));
    write_certificate(folder.path());
    let mut command = command(folder.path());
    command.env("VIGIE_SERVER_TLS_CERT_FILE", folder.path().join("cert.pem"));
    command.env("VIGIE_SERVER_TLS_KEY_FILE", folder.path().join("key.pem"));
    let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    let listed = run_monitors(&daemon);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("over tls"), "{listed:?}");
    let first = fs::read(daemon.folder.path().join("cert.pem")).unwrap();
    fs::write(daemon.folder.path().join("key.pem"), "no key").unwrap();
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_log("failed to load the server certificate");
    assert!(run_monitors(&daemon).status.success());
    write_certificate(daemon.folder.path());
    daemon.wait_for_log("server certificate reloaded");
    assert!(run_monitors(&daemon).status.success());
    fs::write(daemon.folder.path().join("cert.pem"), first).unwrap();
    let refused = run_monitors(&daemon);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("TLS handshake failed"), "{refused:?}");
}
