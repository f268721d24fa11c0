//! A start that is refused when its parts run already: it ends them, and leaves no token and no open database.

use std::path::Path;
use std::process::Output;

use crate::daemon::process::{command, folder, tcp_monitor};

/// How a start in `folder` ends that is expected to be refused. A start that serves never ends, which the limit of
/// the test shows.
fn refused(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).output().unwrap()
}

/// What no refused start may leave in the data folder.
fn leaves_nothing_open(data: &Path, reason: &str) {
    assert!(data.join("vigie.db").exists(), "{reason}: the store was never opened, so this shows nothing");
    for left in ["vigie.db-wal", "vigie.db-shm", "host-token"] {
        assert!(!data.join(left).exists(), "{reason}: `{left}` is left");
    }
}

#[test]
fn a_start_without_the_password_file_that_it_was_given_ends_what_it_started() {
    let folder = folder(&tcp_monitor("a", 9));
    let output = refused(folder.path(), &["--admin-password-file", "/nonexistent/password"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("--admin-password-file /nonexistent/password"), "{text}");
    leaves_nothing_open(&folder.path().join("data"), &text);
}

#[test]
fn a_start_with_a_monitor_file_at_fault_removes_its_token_and_closes_the_store() {
    let folder =
        folder("- {key: a, type: tcp, name: a, billing_plancode: x, hostname: 127.0.0.1, port: 70000}\n");
    let output = refused(folder.path(), &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("all.yaml:1:"), "{text}");
    leaves_nothing_open(&folder.path().join("data"), &text);
}
