//! Each long-running task panics, hangs and meets an error of the store in turn, while monitors run: every planned run
//! is one stored result or a missed one, and a task that is dead is not reported as healthy.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;
use vigie::domain::{MonitorId, Timestamp};
use vigie::store::{SqliteSettings, SqliteStore};

use super::ledger::{Ledger, MONITORS, RUN_TIME_AFTER_RESTART, Record, all_results, monitor_ids, now};
use super::process::{Daemon, command, folder};
use crate::support::lacking;
use crate::support::small_disk::SmallDisk;

/// How long a server runs after the fault.
const RUN_TIME: Duration = Duration::from_secs(6);
/// Time within which a hanging task is reported.
const REPORTED_WITHIN: Duration = Duration::from_secs(30);

/// What happens after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    /// The task goes on, or starts again: the process stays and is ready.
    Continues,
    /// The process ends with a status on which systemd starts it again.
    Exits,
    /// Liveness or readiness fails, on which systemd or an operator ends the process.
    IsReported,
    /// The process is killed without a fault of its own.
    Killed,
    /// At its end, the process puts what the store does not take into the spool; the next one stores it.
    Spools,
}

/// Faults, as the variable `VIGIE_FAULT` names them, with the reaction.
const CASES: &[(&str, Reaction)] = &[
    ("ingest:panic:1:3", Reaction::Continues),
    ("alerts:panic:1:3", Reaction::Continues),
    ("alerts:panic:1:3,reload:panic:2", Reaction::Continues),
    ("commit:panic:1:3", Reaction::Continues),
    ("commit:panic:2:3", Reaction::Continues),
    ("commit:full:3:3", Reaction::Continues),
    ("commit:rejected:1:3", Reaction::Continues),
    ("store_writer:panic:1:10", Reaction::Continues),
    ("store_reader:panic:1:50", Reaction::Continues),
    ("delivery:panic:1", Reaction::Continues),
    ("delivery:full:2", Reaction::Continues),
    ("planner:panic:1", Reaction::Continues),
    ("planner:full:1", Reaction::Continues),
    ("housekeeping:panic:1", Reaction::Continues),
    ("housekeeping:full:1", Reaction::Continues),
    ("check:panic:2:3", Reaction::Continues),
    ("runner:panic:1:9", Reaction::Exits),
    ("ingest:hang:1:3", Reaction::IsReported),
    ("commit:hang:1:3", Reaction::IsReported),
    ("runner:hang:1:9", Reaction::IsReported),
    ("store_writer:hang:1:10", Reaction::IsReported),
    ("store_reader:hang:1:50", Reaction::IsReported),
    ("delivery:hang:1", Reaction::IsReported),
    ("planner:hang:1", Reaction::IsReported),
    ("", Reaction::Killed),
    ("commit:full:1000000:3", Reaction::Spools),
    ("commit:hang:1:2", Reaction::Spools),
    (REAL_FULL_DISK, Reaction::Spools),
];

/// The case in which the data folder is on a disk that is really full.
const REAL_FULL_DISK: &str = "no space on the disk";

#[test]
fn every_planned_run_is_one_result_or_missed_whatever_fails() {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = target.local_addr().unwrap().port();
    std::thread::spawn(move || target.incoming().for_each(drop));
    let has_disk = SmallDisk::mount(tempfile::tempdir().unwrap().path(), "1m").is_some();
    if !has_disk {
        let own = "daemon::faults::every_planned_run_is_one_result_or_missed_whatever_fails";
        lacking::count(own, "the right to mount a file system; injected errors of a full disk stand in");
    }
    let cases: Vec<_> = CASES
        .iter()
        .filter(|(fault, _)| has_disk || *fault != REAL_FULL_DISK)
        .map(|&(fault, reaction)| {
            (fault, reaction, std::thread::spawn(move || run_case(fault, reaction, port)))
        })
        .collect();
    let mut text = String::new();
    let mut is_complete = true;
    for (fault, reaction, case) in cases {
        let outcome = case.join().unwrap_or_else(|_| Err("the case panicked, see above".to_owned()));
        let fault = if fault.is_empty() { "kill -9" } else { fault };
        is_complete &= outcome.as_ref().is_ok_and(|ledger| ledger.wrong.is_empty() && ledger.stored > 0);
        match outcome {
            Ok(Ledger { planned, stored, missed, wrong }) => {
                writeln!(text, "{fault:<28} {reaction:?}: {planned} planned = {stored} stored + {missed} missed {wrong:?}")
            }
            Err(reason) => writeln!(text, "{fault:<28} {reaction:?}: {reason}"),
        }
        .unwrap();
    }
    println!("{text}");
    assert!(is_complete, "\n{text}");
}

fn monitors(port: u16, has_first_checks: bool) -> String {
    let monitor = |n| {
        format!(
            "- {{key: m{n}, type: tcp, name: m{n}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, \
             interval: 1, retry_on_failure: false, allow_internal_testing: {has_first_checks}}}\n"
        )
    };
    (0..MONITORS).map(monitor).collect()
}

/// Reads the list of monitors. The fault may hit this call, which then ends early.
fn read_monitors(server: &Daemon) {
    let request = format!(
        "GET /api/v3/monitors HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
        server.token()
    );
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
}

fn run_case(fault: &str, reaction: Reaction, port: u16) -> Result<Ledger, String> {
    // Failing monitors cause notifications.
    let is_about_delivery = fault.starts_with("delivery");
    // First checks give the runner so much to do that it would reach its fault before the first planned run.
    let has_first_checks = !fault.starts_with("runner");
    let folder = folder(&monitors(if is_about_delivery { 1 } else { port }, has_first_checks));
    let data = folder.path().join("data");
    let spool_dir = folder.path().join("spool");
    let mut first = command(folder.path());
    let mut disk = None;
    if fault == REAL_FULL_DISK {
        std::fs::create_dir(&data).unwrap();
        disk = SmallDisk::mount(&data, "32m");
        first.env("VIGIE_STORE_SPOOL_DIR", &spool_dir);
    } else if !fault.is_empty() {
        first.env("VIGIE_FAULT", fault);
    }
    let is_at_next_minute = fault.starts_with("housekeeping");
    if is_at_next_minute {
        first.env("VIGIE_STORE_RETENTION_AT", next_minute());
    }
    let mut server = Daemon::from_child(first.spawn().unwrap(), folder);
    let from = now();
    let ids = monitor_ids(&server);
    if is_about_delivery {
        let recipient =
            json!({"name": "Hook", "recipient": format!("http://127.0.0.1:{port}/"), "method_id": 10});
        let (status, response) = server.call("POST", "/recipients", &recipient);
        assert_eq!(status, 200, "{response}");
    }
    match reaction {
        Reaction::Continues => {
            std::thread::sleep(RUN_TIME);
            let occurs_until =
                Instant::now() + if is_at_next_minute { RUN_TIME_AFTER_RESTART } else { RUN_TIME };
            while Instant::now() < occurs_until && !server.log_text().contains("fault-injected-by-a-test") {
                // Reads of the store, in case the server itself reads too rarely for the fault.
                read_monitors(&server);
                std::thread::sleep(Duration::from_millis(200));
            }
            // The fault may have hit the probe of the store, which is repeated.
            let ready_until = Instant::now() + RUN_TIME;
            loop {
                let (status, body) = server.get_with_headers("/readyz", "");
                if status == 200 {
                    break;
                }
                if Instant::now() > ready_until {
                    return Err(format!("not ready any more: {body}"));
                }
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        Reaction::Exits => {
            let status = server.wait_for_exit();
            if status.code() != Some(70) {
                return Err(format!("ended with {status}"));
            }
        }
        Reaction::IsReported => {
            let started = Instant::now();
            while is_green(&server) {
                if started.elapsed() > REPORTED_WITHIN + RUN_TIME {
                    return Err("still green".to_owned());
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            server.signal(Signal::SIGKILL);
            server.wait_for_exit();
        }
        Reaction::Killed => {
            std::thread::sleep(RUN_TIME);
            server.signal(Signal::SIGKILL);
            server.wait_for_exit();
        }
        Reaction::Spools => {
            if fault == REAL_FULL_DISK {
                fill_disk(&data);
            }
            std::thread::sleep(RUN_TIME);
            server.signal(Signal::SIGTERM);
            let status = server.wait_for_exit();
            let log = server.log_text();
            if !status.success() || !log.contains("the rest is in the spool") {
                return Err(format!("ended with {status}: {log}"));
            }
            if fault == REAL_FULL_DISK {
                std::fs::remove_file(data.join(FILLER)).unwrap();
            }
        }
    }
    let until = now();
    if reaction == Reaction::Continues {
        if !server.log_text().contains("fault-injected-by-a-test") {
            return Err("the fault did not occur".to_owned());
        }
    } else {
        // The real disk keeps its spool elsewhere: the next start needs the setting too.
        server.start_again_with(|command| {
            if fault == REAL_FULL_DISK {
                command.env("VIGIE_STORE_SPOOL_DIR", spool_dir.clone());
            }
        });
        std::thread::sleep(RUN_TIME_AFTER_RESTART);
    }
    server.signal(Signal::SIGTERM);
    let status = server.wait_for_exit();
    if !status.success() {
        return Err(format!("ended with {status}: {}", server.log_text()));
    }
    if reaction == Reaction::Spools && !server.log_text().contains("stored the results of an earlier process")
    {
        return Err(format!("the spool was not taken up: {}", server.log_text()));
    }
    let ledger = read_ledger(&server, &ids, from, until);
    drop(disk);
    Ok(ledger)
}

/// Name of the file that fills the disk.
const FILLER: &str = "filler";

/// Fills the disk of `folder` to its last byte.
fn fill_disk(folder: &Path) {
    let mut file = std::fs::File::create(folder.join(FILLER)).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    file.sync_all().unwrap();
}

/// Whether both endpoints of a monitoring system report health.
fn is_green(server: &Daemon) -> bool {
    ["/healthz", "/readyz"].iter().all(|path| server.get_with_headers(path, "").0 == 200)
}

/// Returns the time of day, UTC, at the end of this minute or, when that is near, of the next one.
fn next_minute() -> String {
    let minutes = (now().as_micros() / 1_000_000 + 5) / 60 + 1;
    format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
}

/// Compares the runs planned from `from` to `until` with what is stored.
#[tokio::main(flavor = "current_thread")]
async fn read_ledger(server: &Daemon, ids: &[MonitorId], from: Timestamp, until: Timestamp) -> Ledger {
    let path = server.folder.path().join("data/vigie.db");
    let store = SqliteStore::open(&path, &SqliteSettings::default()).unwrap();
    let results = all_results(&store).await;
    Ledger::new(results.iter().map(Record::from), ids, from, until)
}
