//! Runs a test again in a process of its own, where no test beside it takes memory, sockets or processors' time
//! that are counted.

use std::process::Command;

const ALONE: &str = "VIGIE_TEST_ALONE";

/// Whether this process runs nothing but the test called `name`. When it does not, runs that test in a process of
/// its own, and fails when it fails.
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
