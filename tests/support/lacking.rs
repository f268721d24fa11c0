//! Tests that this machine cannot run: each is counted in a line of its own, and none is left out on CI.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::fs::OpenOptions;
use std::io::Write as _;

/// Counts `test` as left out because `want` is missing; fails where `CI` is set, as nothing may be missing
/// there. `remedy` says how to get it.
pub fn lacks(test: &str, want: &str, remedy: &str) {
    let ci = std::env::var("CI").is_ok_and(|ci| !matches!(ci.as_str(), "" | "0" | "false"));
    assert!(!ci, "`{test}` needs {want}: {remedy}");
    count(test, want);
}

/// Counts `test` as left out. The line passes by the capture of the test harness, which would swallow it;
/// `tests/run` names a file instead and tells all of them at its end.
pub fn count(test: &str, want: &str) {
    let line = format!("left out: `{test}` needs {want}\n");
    let file = std::env::var_os("VIGIE_LEFT_OUT").map(|path| OpenOptions::new().append(true).open(path));
    match file {
        Some(Ok(mut file)) => file.write_all(line.as_bytes()),
        _ => std::io::stderr().write_all(line.as_bytes()),
    }
    .unwrap();
}
