//! The built binary with two locations.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::daemon::process::{Daemon, command, folder};

const SETTINGS: &str = "\
location: {id: 1, name: north, region: 1, source_ipv4: 127.0.1.1}
locations:
  - {id: 2, name: south, region: 2, source_ipv4: 127.0.1.2, total: 5}
";

#[test]
fn two_locations_check_from_their_own_addresses() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peers: Arc<Mutex<BTreeSet<IpAddr>>> = Arc::default();
    let peers_seen = Arc::clone(&peers);
    std::thread::spawn(move || {
        while let Ok((_, peer)) = listener.accept() {
            peers_seen.lock().unwrap().insert(peer.ip());
        }
    });
    let folder = folder(&monitors_at(port, "{id: 1}, {id: 2}"));
    let file = folder.path().join("vigie.yaml");
    fs::write(&file, SETTINGS).unwrap();
    let mut command = command(folder.path());
    command.arg("--config").arg(&file);
    let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    let both: BTreeSet<IpAddr> = ["127.0.1.1".parse().unwrap(), "127.0.1.2".parse().unwrap()].into();
    let until = Instant::now() + Duration::from_secs(40);
    while *peers.lock().unwrap() != both {
        assert!(Instant::now() < until, "only {:?} came", peers.lock().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    let bearer = format!("Authorization: Bearer {}\r\n", daemon.token());
    let (status, body) = daemon.get_with_headers("/api/v3/locations", &bearer);
    assert_eq!(status, 200);
    for name in ["north", "south"] {
        assert!(body.contains(&format!(r#""name":"{name}""#)), "{body}");
    }
    assert_eq!(body.matches(r#""state":"alive""#).count(), 2, "{body}");
    let (_, page) = daemon.get_with_headers("/", &bearer);
    assert!(page.contains("checked from north, south"), "{page}");
    let (_, metrics) = daemon.get_with_headers("/metrics", &bearer);
    assert!(metrics.contains("\nvigie_monitors_planned 120\n"), "{metrics}");
    let (status, alive) = daemon.get_with_headers("/healthz", "");
    assert_eq!(status, 200, "{alive}");
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("no result was lost");
}

/// Returns 60 monitors of `port` at `locations`; spread over the minute, so that some are due at once.
fn monitors_at(port: u16, locations: &str) -> String {
    let mut monitors = String::new();
    for number in 0..60 {
        writeln!(
            monitors,
            "- {{key: k{number}, type: tcp, name: k{number}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, interval: 1, locations: [{locations}]}}"
        )
        .unwrap();
    }
    monitors
}

/// A reload starts and stops locations, and takes the heartbeat.
#[test]
fn a_reload_starts_and_stops_locations_and_takes_the_heartbeat() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peers: Arc<Mutex<BTreeSet<IpAddr>>> = Arc::default();
    let peers_seen = Arc::clone(&peers);
    std::thread::spawn(move || {
        while let Ok((_, peer)) = listener.accept() {
            peers_seen.lock().unwrap().insert(peer.ip());
        }
    });
    let heartbeat = TcpListener::bind("127.0.0.1:0").unwrap();
    let heartbeat_url = format!("http://{}/beat", heartbeat.local_addr().unwrap());
    let (beat_sender, beats) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = heartbeat.accept() {
            let _ = beat_sender.send(stream);
        }
    });
    let folder = folder(&monitors_at(port, "{id: 1}"));
    let (settings_file, monitors_file) =
        (folder.path().join("vigie.yaml"), folder.path().join("monitors/all.yaml"));
    let north = "location: {id: 1, name: north, region: 1, source_ipv4: 127.0.1.1}\n";
    fs::write(&settings_file, north).unwrap();
    let mut command = command(folder.path());
    command.arg("--config").arg(&settings_file);
    let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    let bearer = format!("Authorization: Bearer {}\r\n", daemon.token());
    let alive = |daemon: &Daemon| {
        let (_, body) = daemon.get_with_headers("/api/v3/locations", &bearer);
        body.matches(r#""state":"alive""#).count()
    };
    assert_eq!(alive(&daemon), 1);
    let south = "locations: [{id: 2, name: south, region: 2, source_ipv4: 127.0.1.2}]\n";
    fs::write(&settings_file, format!("{north}{south}heartbeat: {{url: '{heartbeat_url}'}}\n")).unwrap();
    fs::write(&monitors_file, monitors_at(port, "{id: 1}, {id: 2}")).unwrap();
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_log("location started");
    beats.recv_timeout(Duration::from_secs(20)).expect("the heartbeat is requested");
    let until = Instant::now() + Duration::from_secs(40);
    while !peers.lock().unwrap().contains(&IpAddr::from([127, 0, 1, 2])) {
        assert!(Instant::now() < until, "only {:?} came", peers.lock().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(alive(&daemon), 2);
    let (_, page) = daemon.get_with_headers("/", &bearer);
    assert!(page.contains("checked from north, south"), "{page}");
    fs::write(&monitors_file, monitors_at(port, "{id: 1}")).unwrap();
    fs::write(&settings_file, north).unwrap();
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_log("location stopped");
    let until = Instant::now() + Duration::from_secs(20);
    while alive(&daemon) != 1 {
        assert!(Instant::now() < until, "the location stays alive");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (status, health) = daemon.get_with_headers("/healthz", "");
    assert_eq!(status, 200, "{health}");
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("no result was lost");
}
