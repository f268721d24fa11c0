//! Runs a test in a process of its own, so that no other test uses the memory, sockets or processor time that it
//! measures.

use std::process::Command;

const ALONE: &str = "VIGIE_TEST_ALONE";

/// Whether this process runs only the test `name`. If not, runs that test in a child process and panics when it
/// fails there.
pub fn alone(name: &str) -> bool {
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, name)
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "in a process of its own: {text}");
    false
}
