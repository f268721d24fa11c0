//! A start that fails after its parts are running: it stops them, and leaves no token and no open database.

use std::path::Path;
use std::process::Output;

use crate::daemon::process::{command, folder, tcp_monitor};

/// Starts the daemon in `folder`, which must fail. A start that succeeds never returns, so the time limit of the test
/// reports it.
fn start(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).output().unwrap()
}

/// Asserts that a failed start left none of these files in the data folder.
fn assert_nothing_left(data: &Path, reason: &str) {
    assert!(data.join("vigie.db").exists(), "{reason}: the store was never opened, so this shows nothing");
    for left in ["vigie.db-wal", "vigie.db-shm", "host-token"] {
        assert!(!data.join(left).exists(), "{reason}: `{left}` is left");
    }
}

#[test]
fn a_start_without_its_password_file_stops_what_it_started() {
    let folder = folder(&tcp_monitor("a", 9));
    let output = start(folder.path(), &["--admin-password-file", "/nonexistent/password"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("--admin-password-file /nonexistent/password"), "{text}");
    assert_nothing_left(&folder.path().join("data"), &text);
}

#[test]
fn a_start_with_an_invalid_monitor_file_stops_what_it_started() {
    let folder =
        folder("- {key: a, type: tcp, name: a, billing_plancode: x, hostname: 127.0.0.1, port: 70000}\n");
    let output = start(folder.path(), &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("all.yaml:1:"), "{text}");
    assert_nothing_left(&folder.path().join("data"), &text);
}
