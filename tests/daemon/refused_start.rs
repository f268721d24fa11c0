//! A start that fails after its parts are running: it stops them, and leaves no token and no open database.

use std::path::Path;
use std::process::Output;

use nix::sys::signal::Signal;

use crate::daemon::process::{Daemon, command, folder, tcp_monitor};
use crate::support::daemon::free_port;

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

#[test]
fn a_start_without_its_database_waits_for_it_and_ends_with_a_status_on_which_systemd_tries_again() {
    let folder = folder(&tcp_monitor("a", 9));
    let serve = || {
        let mut command = command(folder.path());
        command.env("VIGIE_STORE_URL", format!("postgres://vigie@127.0.0.1:{}/vigie", free_port()));
        command
    };
    let output = serve().env("VIGIE_STORE_CONNECT_SECONDS", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.matches("the database is not available yet, retrying for 3 s").count(), 1, "{text}");
    let reason = "cannot open the database `postgres://vigie@127.0.0.1:";
    assert!(text.contains(reason) && text.contains("check that the server runs"), "{text}");
    assert!(!folder.path().join("data/host-token").exists());
    // A signal ends the wait.
    let child = serve().env("VIGIE_STORE_CONNECT_SECONDS", "300").spawn().unwrap();
    let mut waiting = Daemon::starting(child, folder);
    waiting.wait_for_log("the database is not available yet, retrying for 900 s");
    waiting.signal(Signal::SIGTERM);
    assert_eq!(waiting.wait_for_exit().code(), Some(0));
    assert!(waiting.log_text().contains("stopped before the start was complete"));
}
