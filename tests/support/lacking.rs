//! Skips tests whose prerequisites the machine lacks. Each skipped test is counted; on CI it fails instead.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::fs::OpenOptions;
use std::io::Write as _;

/// Skips and counts `test` because `prerequisite` is missing; panics where `CI` is set. `remedy` says how to get it.
pub fn lacks(test: &str, prerequisite: &str, remedy: &str) {
    let ci = std::env::var("CI").is_ok_and(|ci| !matches!(ci.as_str(), "" | "0" | "false"));
    assert!(!ci, "`{test}` needs {prerequisite}: {remedy}");
    count(test, prerequisite);
}

/// Counts `test` as skipped. The line goes to stderr past the capture of the test harness; `tests/run` sets a file
/// instead and prints its lines at the end.
pub fn count(test: &str, prerequisite: &str) {
    let line = format!("left out: `{test}` needs {prerequisite}\n");
    let file = std::env::var_os("VIGIE_LEFT_OUT").map(|path| OpenOptions::new().append(true).open(path));
    match file {
        Some(Ok(mut file)) => file.write_all(line.as_bytes()),
        _ => std::io::stderr().write_all(line.as_bytes()),
    }
    .unwrap();
}
