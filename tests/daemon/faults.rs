//! Each long-running task panics, hangs and meets an error of the store in turn, while monitors run: every planned run
//! is one stored result or a missed one, and a task that is dead is not reported as healthy.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use vigie::domain::{MonitorId, Timestamp};
use vigie::schedule::SlotGrid;
use vigie::store::{Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore};

use super::process::{Daemon, command, folder};

/// Monitors of a case, each planned once a minute: two results a second.
const MONITORS: usize = 120;
/// How long a server runs after the fault.
const RUN_TIME: Duration = Duration::from_secs(6);
/// How long it runs after a restart: within its interval, a run that was due meanwhile starts late or is missed.
const RUN_TIME_AFTER_RESTART: Duration = Duration::from_secs(63);
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
}

/// Faults, as the variable `VIGIE_FAULT` names them, with the reaction.
const CASES: &[(&str, Reaction)] = &[
    ("ingest:panic:1:3", Reaction::Continues),
    ("alerts:panic:1:3", Reaction::Continues),
    ("commit:panic:1:3", Reaction::Continues),
    ("commit:full:3:3", Reaction::Continues),
    ("commit:rejected:1:3", Reaction::Continues),
    ("store_writer:panic:1:10", Reaction::Continues),
    ("store_reader:panic:1:25", Reaction::Continues),
    ("delivery:panic:1", Reaction::Continues),
    ("delivery:full:2", Reaction::Continues),
    ("planner:panic:1", Reaction::Continues),
    ("check:panic:2:3", Reaction::Continues),
    ("runner:panic:1:9", Reaction::Exits),
    ("ingest:hang:1:3", Reaction::IsReported),
    ("commit:hang:1:3", Reaction::IsReported),
    ("runner:hang:1:9", Reaction::IsReported),
    ("store_writer:hang:1:10", Reaction::IsReported),
    ("", Reaction::Killed),
];

/// What became of the planned runs of a case.
#[derive(Debug, Default)]
struct Ledger {
    planned: usize,
    stored: usize,
    missed: usize,
    /// Planned runs without a result, and results beyond one for a run.
    wrong: Vec<String>,
}

#[test]
fn every_planned_run_is_one_result_or_missed_whatever_fails() {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = target.local_addr().unwrap().port();
    std::thread::spawn(move || target.incoming().for_each(drop));
    let cases: Vec<_> = CASES
        .iter()
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

fn monitors(port: u16) -> String {
    let monitor = |n| {
        format!(
            "- {{key: m{n}, type: tcp, name: m{n}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, \
             interval: 1, retry_on_failure: false}}\n"
        )
    };
    (0..MONITORS).map(monitor).collect()
}

fn run_case(fault: &str, reaction: Reaction, port: u16) -> Result<Ledger, String> {
    // Failing monitors cause notifications.
    let is_about_delivery = fault.starts_with("delivery");
    let folder = folder(&monitors(if is_about_delivery { 1 } else { port }));
    let mut first = command(folder.path());
    if !fault.is_empty() {
        first.env("VIGIE_FAULT", fault);
    }
    let mut server = Daemon::from_child(first.spawn().unwrap(), folder);
    let ids = monitor_ids(&server);
    if is_about_delivery {
        let recipient =
            json!({"name": "Hook", "recipient": format!("http://127.0.0.1:{port}/"), "method_id": 10});
        let (status, response) = server.call("POST", "/recipients", &recipient);
        assert_eq!(status, 200, "{response}");
    }
    let from = now();
    match reaction {
        Reaction::Continues => {
            std::thread::sleep(RUN_TIME);
            let (status, body) = server.get_with_headers("/readyz", "");
            if status != 200 {
                return Err(format!("not ready any more: {body}"));
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
    }
    let until = now();
    if reaction == Reaction::Continues {
        if !server.log_text().contains("fault-injected-by-a-test") {
            return Err("the fault did not occur".to_owned());
        }
    } else {
        server.start_again();
        std::thread::sleep(RUN_TIME_AFTER_RESTART);
    }
    server.signal(Signal::SIGTERM);
    let status = server.wait_for_exit();
    if !status.success() {
        return Err(format!("ended with {status}: {}", server.log_text()));
    }
    Ok(read_ledger(&server, &ids, from, until))
}

fn monitor_ids(server: &Daemon) -> Vec<MonitorId> {
    let list = || server.call("GET", "/monitors?limit=1000", &Value::Null);
    // The first call meets the fault of a reading thread.
    let (status, list) = [list(), list()].into_iter().find(|(status, _)| *status == 200).unwrap();
    assert_eq!(status, 200, "{list}");
    let id = |monitor: &Value| MonitorId(monitor["id"].as_i64().unwrap());
    let ids: Vec<_> = list["results"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids.len(), MONITORS);
    ids
}

/// Whether both endpoints of a monitoring system report health.
fn is_green(server: &Daemon) -> bool {
    ["/healthz", "/readyz"].iter().all(|path| server.get_with_headers(path, "").0 == 200)
}

fn now() -> Timestamp {
    use vigie::clock::Clock;
    vigie::clock::SystemClock.now()
}

/// Compares the runs planned from `from` to `until` with what is stored.
#[tokio::main(flavor = "current_thread")]
async fn read_ledger(server: &Daemon, ids: &[MonitorId], from: Timestamp, until: Timestamp) -> Ledger {
    let path = server.folder.path().join("data/vigie.db");
    let store = SqliteStore::open(&path, &SqliteSettings::default()).unwrap();
    let page = Pagination { limit: u32::MAX, offset: 0 };
    let results = store.results(ResultFilter::default(), page).await.unwrap().results;
    let mut recorded: HashMap<(MonitorId, Timestamp), Vec<bool>> = HashMap::new();
    for result in results {
        let grid = SlotGrid::new(result.monitor_id, Duration::from_mins(1), None);
        let mut slot = result.planned_at;
        for _ in 0..result.run_count() {
            recorded.entry((result.monitor_id, slot)).or_default().push(result.missed.is_some());
            slot = grid.next_slot_after(slot);
        }
    }
    let mut ledger = Ledger::default();
    for &id in ids {
        let grid = SlotGrid::new(id, Duration::from_mins(1), None);
        let mut slot = grid.first_slot_at_or_after(from);
        while slot < until {
            ledger.planned += 1;
            match recorded.get(&(id, slot)).map(Vec::as_slice) {
                Some([false]) => ledger.stored += 1,
                Some([true]) => ledger.missed += 1,
                other => ledger.wrong.push(format!("{} at {slot:?}: {other:?}", id.0)),
            }
            slot = grid.next_slot_after(slot);
        }
    }
    ledger
}
