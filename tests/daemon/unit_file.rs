use std::process::Command;

use crate::support::lacking::lacks;

const UNIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie.service");
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie-agent.service");
const CONTROLLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie-controller.service");
const HOST_AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie-hostagent.service");
const SOCKET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie-webdriver.socket");
const WEBDRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/vigie-webdriver.service");

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

/// Runs `systemd-analyze verify` where it is installed; elsewhere the test counts as left out.
#[test]
fn systemd_verifies_the_unit_without_complaints() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        let on_demand_test_url = "daemon::unit_file::systemd_verifies_the_unit_without_complaints";
        return lacks(on_demand_test_url, "systemd-analyze", "`apt-get install systemd`");
    }
    // Accepted exposure in tenths. Browsers need writable executable memory and namespaces.
    for (file, program, threshold) in [
        (UNIT, "/usr/local/bin/vigie", 20),
        (AGENT, "/usr/local/bin/vigie", 20),
        (CONTROLLER, "/usr/local/bin/vigie", 20),
        (HOST_AGENT, "/usr/local/bin/vigie", 20),
        (WEBDRIVER, "/usr/local/bin/vigie", 25),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let name = std::path::Path::new(file).file_name().unwrap().to_str().unwrap();
        let unit = folder.path().join(name);
        let binary = env!("CARGO_BIN_EXE_vigie");
        let text = std::fs::read_to_string(file).unwrap().replace(program, binary);
        std::fs::write(&unit, text).unwrap();
        std::fs::copy(SOCKET, folder.path().join("vigie-webdriver.socket")).unwrap();
        let verify = Command::new("systemd-analyze").arg("verify").arg(&unit).output().unwrap();
        let stderr = String::from_utf8_lossy(&verify.stderr);
        let complaints: Vec<_> = stderr.lines().filter(|line| line.contains(name)).collect();
        assert!(verify.status.success() && complaints.is_empty(), "{stderr}");
        let security = Command::new("systemd-analyze")
            .args(["security", "--offline=true", &format!("--threshold={threshold}")])
            .arg(&unit)
            .output()
            .unwrap();
        assert!(security.status.success(), "{}", String::from_utf8_lossy(&security.stdout));
    }
}

/// The agent of a host has no capabilities, but sees what it measures.
#[test]
fn the_unit_of_the_host_agent_has_no_privileges_and_sees_the_host() {
    let text = std::fs::read_to_string(HOST_AGENT).unwrap();
    for line in [
        "DynamicUser=yes",
        "StateDirectory=vigie-hostagent",
        "LoadCredential=host_token:/etc/vigie/host-token",
        "CapabilityBoundingSet=",
        "AmbientCapabilities=",
        "ProtectSystem=strict",
        "ProtectHome=read-only",
        "ProtectProc=default",
        "ProcSubset=all",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing");
    }
}

#[test]
fn the_unit_of_browsers_reaches_loopback_only() {
    let text = std::fs::read_to_string(WEBDRIVER).unwrap();
    for line in ["DynamicUser=yes", "IPAddressDeny=any", "IPAddressAllow=localhost", "KillMode=control-group"]
    {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing");
    }
}

/// The server and its browsers have different users: the socket between them is closed to all others.
#[test]
fn the_socket_of_browsers_is_for_the_server_alone() {
    let socket = std::fs::read_to_string(SOCKET).unwrap();
    for line in ["ListenStream=/run/vigie/webdriver.sock", "SocketMode=0600"] {
        assert!(socket.lines().any(|found| found == line), "`{line}` is missing");
    }
    assert!(
        std::fs::read_to_string(WEBDRIVER).unwrap().contains("ExecStart=/usr/local/bin/vigie browser-host\n")
    );
    let unit = std::fs::read_to_string(UNIT).unwrap();
    assert!(unit.contains("ExecStartPre=-+/bin/chown vigie /run/vigie/webdriver.sock\n"));
}
