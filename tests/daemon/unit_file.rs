use std::process::Command;

use crate::lacking::lacks;

const UNIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie.service");

#[test]
fn the_unit_is_sandboxed() {
    let text = std::fs::read_to_string(UNIT).unwrap();
    for line in [
        "Type=notify",
        "DynamicUser=yes",
        "StateDirectory=vigie",
        "ProtectSystem=strict",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=CAP_NET_RAW",
        "AmbientCapabilities=CAP_NET_RAW",
        "MemoryDenyWriteExecute=yes",
        "SystemCallFilter=@system-service",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing");
    }
}

/// `systemd-analyze verify` where it is installed; elsewhere one line says that this was not looked at.
#[test]
fn systemd_reads_the_unit_without_a_complaint() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        let own = "unit_file::systemd_reads_the_unit_without_a_complaint";
        return lacks(own, "systemd-analyze", "`apt-get install systemd`");
    }
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("vigie.service");
    let binary = env!("CARGO_BIN_EXE_vigie");
    let text = std::fs::read_to_string(UNIT).unwrap().replace("/usr/local/bin/vigie", binary);
    std::fs::write(&unit, text).unwrap();
    let verify = Command::new("systemd-analyze").arg("verify").arg(&unit).output().unwrap();
    let said = String::from_utf8_lossy(&verify.stderr);
    let about_us: Vec<_> = said.lines().filter(|line| line.contains("vigie.service")).collect();
    assert!(verify.status.success() && about_us.is_empty(), "{said}");
    let security = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--threshold=20"])
        .arg(&unit)
        .output()
        .unwrap();
    assert!(security.status.success(), "{}", String::from_utf8_lossy(&security.stdout));
}
