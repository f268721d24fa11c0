//! Runs a test again inside a network namespace of its own.

use std::process::Command;

use super::lacking;

const INSIDE: &str = "VIGIE_TEST_NAMESPACE";

/// Whether this process is the one inside. When it is not, runs the test called `name` in a new network
/// namespace in which the shell commands `setup` were done, through the program `wrapper` when it is not
/// empty, and fails when it fails. Where the host gives out no namespaces, the test is counted as left out.
pub fn inside(name: &str, setup: &str, wrapper: &str) -> bool {
    if std::env::var(INSIDE).is_ok_and(|inside| inside == name) {
        return true;
    }
    let this = std::env::current_exe().unwrap();
    if let Err(reason) = permitted() {
        lacking::lacks(name, "a network namespace", &reason);
        return false;
    }
    let script = format!("set -e; {setup}\nexec {wrapper} \"$0\" --exact {name} --nocapture");
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-c", &script])
        .arg(this)
        .env(INSIDE, name)
        .output()
        .expect("`unshare` of util-linux starts");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "in a network namespace: {text}");
    false
}

/// Whether this user gets a network namespace here, or why not.
fn permitted() -> Result<(), String> {
    let tried = Command::new("unshare").args(["--map-root-user", "--net", "true"]).output();
    let tried = tried.map_err(|error| format!("`unshare` of util-linux does not start: {error}"))?;
    if tried.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&tried.stderr).into_owned()) }
}
