//! Runs a test in a network namespace of its own.

use std::process::Command;

use super::lacking;

const INSIDE: &str = "VIGIE_TEST_NAMESPACE";

/// Whether this process runs inside the namespace of the test `name`. If not, runs that test in a new network
/// namespace, after the shell commands `setup` and through the program `wrapper` unless it is empty, and panics when
/// it fails there. Where the host permits no namespaces, the test is counted as skipped.
pub fn inside(name: &str, setup: &str, wrapper: &str) -> bool {
    inside_of(&["--net"], name, setup, wrapper)
}

/// Like [`inside`], with mounts of its own too: the test may mount disks.
pub fn inside_with_mounts(name: &str, setup: &str) -> bool {
    inside_of(&["--net", "--mount"], name, setup, "")
}

/// Whether this process is in a namespace of [`inside`]: its root is the only user there.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

#[allow(clippy::print_stdout, reason = "what the test printed there")]
fn inside_of(namespaces: &[&str], name: &str, setup: &str, wrapper: &str) -> bool {
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
        .arg("--map-root-user")
        .args(namespaces)
        .args(["sh", "-c", &script])
        .arg(this)
        .env(INSIDE, name)
        .output()
        .expect("`unshare` of util-linux starts");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "in a network namespace: {text}");
    print!("{text}");
    false
}

/// Returns why this user cannot create a network namespace, as an error.
fn permitted() -> Result<(), String> {
    let output = Command::new("unshare").args(["--map-root-user", "--net", "true"]).output();
    let output = output.map_err(|error| format!("`unshare` of util-linux does not start: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
