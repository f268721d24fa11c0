//! An agent on a host of its own, as its user runs it: with NATS, the server and the agent as processes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::process::{Daemon, command, folder};
use crate::support::binary::{err, vigie};
use crate::support::daemon::{free_port, has};
use crate::support::lacking;
use crate::support::nats::NatsServer;

/// Returns the command of an agent with its data in `folder`.
fn agent_command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command
        .args(["agent", "run", "--data"])
        .arg(folder)
        .env("VIGIE_LOG_FORMAT", "json")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Starts an agent; `Daemon` reads its log and ends it.
fn start_agent(data: &Path) -> Daemon {
    Daemon::starting(agent_command(data).spawn().unwrap(), tempfile::tempdir().unwrap())
}

/// Asks the server for the results of `GET path` until `find` returns something, at most `seconds` long.
fn wait_for<T>(server: &Daemon, path: &str, seconds: u64, find: impl Fn(&[Value]) -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(seconds);
    loop {
        let (_, response) = server.call("GET", path, &json!({}));
        if let Some(found) = find(response["results"].as_array().unwrap()) {
            return found;
        }
        assert!(Instant::now() < until, "not there after {seconds} s: {response}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until the server has a first check of each of the monitors `names`; returns all results.
fn wait_for_first_checks(server: &Daemon, names: &[&str]) -> Vec<Value> {
    let is_first =
        |result: &Value, name: &str| result["monitor_name"] == name && result["trigger"] == "first";
    wait_for(server, "/results?limit=50", 40, |results| {
        let has_first = |name: &&str| results.iter().any(|result| is_first(result, name));
        names.iter().all(has_first).then(|| results.to_vec())
    })
}

/// Waits until the server has a result of the monitor `name`, whose interval is a minute.
fn wait_for_result(server: &Daemon, name: &str) {
    let is_wanted = |result: &Value| result["monitor_name"] == name && result["outcome"] == "ok";
    wait_for(server, "/results?limit=50", 90, |results| results.iter().any(is_wanted).then_some(()));
}

/// Waits until the server has had a heartbeat of its only agent other than the one at `last`; returns when it came. A
/// first check is skipped while the location is offline.
fn wait_for_heartbeat(server: &Daemon, last: &Value) -> Value {
    wait_for(server, "/agents", 40, |agents| {
        let agent = agents.first()?;
        let is_newer = agent["state"] == "online" && agent["last_seen_at"] != *last;
        is_newer.then(|| agent["last_seen_at"].clone())
    })
}

#[test]
fn an_agent_enrols_checks_survives_an_outage_and_hands_over() {
    let (server_folder, nats_folder, agent_folder) =
        (folder("[]"), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (port, data) = (free_port(), server_folder.path().join("data"));
    let init = ["nats", "init", nats_folder.path().to_str().unwrap(), "--port", &port.to_string(), "--data"];
    let output = vigie(&[&init[..], &[data.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", err(&output));
    let mut nats = NatsServer::start_from(&nats_folder.path().join("nats.conf"), port);
    let monitors_file = server_folder.path().join("monitors/all.yaml");
    let mut server = Daemon::from_child(command(server_folder.path()).spawn().unwrap(), server_folder);

    let (_, location) = server.call("POST", "/locations", &json!({"name": "Paris"}));
    assert!(location["id"].is_string(), "{location}");
    let location_id: i64 = location["id"].as_str().unwrap().parse().unwrap();
    let secret = agent_folder.path().join("secret");
    fs::write(&secret, location["enrolment_secret"].as_str().unwrap()).unwrap();
    let agent_data = agent_folder.path().join("data");
    let url = format!("http://{}", server.address);
    let (secret, data) = (secret.to_str().unwrap(), agent_data.to_str().unwrap());
    let output = vigie(&["agent", "enrol", &url, "--secret-file", secret, "--data", data]);
    assert!(output.status.success(), "{}", err(&output));
    let mut agent = start_agent(&agent_data);
    agent.wait_for_log("the agent runs");
    wait_for_heartbeat(&server, &Value::Null);

    // The first checks are orders over the bus; their results come through the streams.
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let monitor = |name: &str, port: u16| {
        json!({"type": "tcp", "name": name, "hostname": "127.0.0.1", "port": port, "interval": 1,
            "timeout": 5, "billing_plancode": "x", "locations": [{"id": location_id, "name": "Paris"}],
            "home_location": location_id})
    };
    let open_port = target.local_addr().unwrap().port();
    for (name, port) in [("open", open_port), ("closed", free_port())] {
        let (status, created) = server.call("POST", "/monitors/tcp", &monitor(name, port));
        assert_eq!(status, 200, "{created}");
    }
    let results = wait_for_first_checks(&server, &["open", "closed"]);
    let outcome_of = |name: &str| {
        let of_monitor = |result: &&Value| result["monitor_name"] == name;
        results.iter().find(of_monitor).map(|result| result["outcome"].clone())
    };
    assert_eq!((outcome_of("open"), outcome_of("closed")), (Some("ok".into()), Some("error".into())));
    assert!(results.iter().all(|result| result["location_id"] == location_id), "{results:?}");

    // The pages name the location, and a person can choose it.
    let token = format!("Authorization: Bearer {}\r\n", server.token());
    let (_, list) = server.get_with_headers("/", &token);
    let choice = format!(r#"<option value="{location_id}">Paris</option>"#);
    assert!(list.contains(&choice) && list.contains(">all locations</a>"), "{list}");
    let (_, page) =
        server.get_with_headers(&format!("/results/{}", results[0]["check_id"].as_str().unwrap()), &token);
    assert!(page.contains("Paris") && !page.contains(&format!("location {location_id}")), "{page}");

    // Without NATS, the agent starts from what it has on its disk.
    agent.signal(Signal::SIGKILL);
    agent.wait_for_exit();
    nats.kill();
    let last_heartbeat = wait_for_heartbeat(&server, &Value::Null);
    let mut agent = start_agent(&agent_data);
    agent.wait_for_log("started from the stored assignments");
    agent.wait_for_log("the agent runs");
    nats.restart();
    agent.wait_for_log("connected to NATS");
    wait_for_heartbeat(&server, &last_heartbeat);
    // A new monitor reaches it again.
    let (status, _) = server.call("POST", "/monitors/tcp", &monitor("later", open_port));
    assert_eq!(status, 200);
    wait_for_result(&server, "later");

    a_browser_script_runs(&server, location_id);

    // Files of the server name its location too, if it exists.
    let from_file = |location: i64| {
        format!(
            "- {{key: k, type: tcp, name: filed, billing_plancode: x, hostname: 127.0.0.1, port: {open_port}, \
             interval: 1, locations: [{{id: {location}}}]}}\n"
        )
    };
    fs::write(&monitors_file, from_file(location_id + 900)).unwrap();
    server.signal(Signal::SIGHUP);
    let refused = server.wait_for_log("reload failed");
    let reason = format!("account 1 has no location `{}`", location_id + 900);
    assert!(refused["error"].as_str().unwrap().contains(&reason), "{refused}");
    fs::write(&monitors_file, from_file(location_id)).unwrap();
    server.signal(Signal::SIGHUP);
    wait_for_result(&server, "filed");

    agent.signal(Signal::SIGTERM);
    agent.wait_for_log("shut down");
    assert_eq!(agent.wait_for_exit().code(), Some(0));
}

/// The first check of a script at a location of an agent, whose screenshot comes with it.
fn a_browser_script_runs(server: &Daemon, location_id: i64) {
    if !has("chromium") || !has("chromedriver") {
        lacking::lacks("a script at an agent", "chromium and chromedriver", "run tests/run");
        return;
    }
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = site.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in site.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            if stream.read(&mut request).is_ok_and(|length| length > 0) {
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<p>Hello!",
                );
            }
        }
    });
    let script = format!(
        "<script version=\"1\" name=\"shop\" base=\"http://{address}/\"><step name=\"one\"><open url=\"/\"/>\
         <wait-for-text contains=\"Hello!\"/><screenshot name=\"seen\"/></step></script>"
    );
    let monitor = json!({"name": "script", "interval": 60, "timeout": 60, "billing_plancode": "x", "script": script,
        "browser_type": "Google Chrome", "locations": [{"id": location_id}], "home_location": location_id});
    let (status, created) = server.call("POST", "/monitors/browserscript", &monitor);
    assert_eq!(status, 200, "{created}");
    let results = wait_for_first_checks(server, &["script"]);
    let result = results.iter().find(|result| result["monitor_name"] == "script").unwrap();
    assert_eq!(result["outcome"], "ok", "{result}");
    let path = format!("/results/{}", result["check_id"].as_str().unwrap());
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let (_, result) = server.call("GET", &path, &json!({}));
        let captures = result["captures"].as_array().cloned().unwrap_or_default();
        if captures.iter().any(|capture| capture["name"] == "seen.jpg") {
            break;
        }
        assert!(Instant::now() < until, "no screenshot: {result}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_agent_without_a_credential_says_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = vigie(&["agent", "run", "--data", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("`vigie agent enrol` makes one"), "{}", err(&output));
}
