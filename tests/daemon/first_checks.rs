//! First checks of monitors from files, in the running server.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::daemon::process::Daemon;

fn file(names: &[&str], port: u16) -> String {
    let line = |name: &&str| {
        format!(
            "- {{key: {name}, type: tcp, name: {name}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, \
             interval: 120}}\n"
        )
    };
    names.iter().map(line).collect()
}

/// Returns name and revision of each first check, oldest first, once there are `count` of them.
fn first_checks(daemon: &Daemon, count: usize) -> Vec<(String, i64)> {
    let started = Instant::now();
    loop {
        let (_, body) = daemon.call("GET", "/results?limit=100", &Value::Null);
        let results = body["results"].as_array().cloned().unwrap_or_default();
        let mut found: Vec<_> = results
            .iter()
            .filter(|result| result["trigger"] == "first")
            .map(|result| {
                let name = result["monitor_name"].as_str().unwrap().to_owned();
                (name, result["revision"].as_i64().unwrap())
            })
            .collect();
        found.reverse();
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(40), "{found:?} of {count}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn files_that_are_new_or_check_something_else_are_checked_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let other_port = other.local_addr().unwrap().port();
    let mut daemon = Daemon::start(&file(&["a"], port));
    assert_eq!(first_checks(&daemon, 1), [("a".to_owned(), 1)]);
    let path = daemon.folder.path().join("monitors/all.yaml");
    // A reload checks the new file alone.
    fs::write(&path, file(&["a", "b"], port)).unwrap();
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_log("reloaded");
    assert_eq!(first_checks(&daemon, 2)[1], ("b".to_owned(), 1));
    // So does a start: `a` is unchanged, and only the note of `b` changes.
    daemon.signal(Signal::SIGKILL);
    daemon.wait_for_exit();
    let mut text = file(&["a", "b"], port).replace("name: b,", "name: b, note: n,");
    text.push_str(&file(&["c"], other_port));
    fs::write(&path, &text).unwrap();
    daemon.start_again();
    assert_eq!(first_checks(&daemon, 3)[2], ("c".to_owned(), 1));
    // A reload of another target, after which a further monitor shows that nothing else waits.
    fs::write(
        daemon.folder.path().join("monitors/all.yaml"),
        text.replace(&port.to_string(), &other_port.to_string()),
    )
    .unwrap();
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_log("reloaded");
    let (status, created) = daemon.call(
        "POST",
        "/monitors/tcp",
        &json!({"name": "d", "billing_plancode": "x", "hostname": "127.0.0.1", "port": port, "interval": 120}),
    );
    assert_eq!(status, 200, "{created}");
    let mut found = first_checks(&daemon, 6);
    found.sort();
    let expected = [("a", 1), ("a", 2), ("b", 1), ("b", 3), ("c", 1), ("d", 1)];
    assert_eq!(found, expected.map(|(name, revision)| (name.to_owned(), revision)));
    let id = created["id"].as_str().unwrap();
    let (_, status) = daemon.call("GET", &format!("/report-sitestatus?monitor_id={id}"), &Value::Null);
    assert_eq!(status["results"][0]["state"], "up", "{status}");
    let headers = format!("Authorization: Bearer {}\r\n", daemon.token());
    let (_, page) = daemon.get_with_headers(&format!("/monitors/{id}"), &headers);
    assert!(page.contains("first check"), "{page}");
}
