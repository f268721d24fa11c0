//! A process that is killed at any moment loses no acknowledged result.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use vigie::domain::MonitorId;
use vigie::store::{Ingest, IngestBatch, MonitorLocationState, ResultStore};

use crate::store::samples::{all, assert_whole, at, error, missed, ok, sqlite};
use crate::support::long_tests::full;

const FOLDER: &str = "VIGIE_TEST_KILL_FOLDER";
const ROUND: &str = "VIGIE_TEST_KILL_ROUND";
const WRITERS: i64 = 4;

/// Runs in a child process of the test below; does nothing in an ordinary test run.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let round: i64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let store = std::sync::Arc::new(sqlite(Path::new(&folder)));
    let writers = (1..=WRITERS).map(|monitor| runtime.spawn(write(store.clone(), monitor, round)));
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        runtime.block_on(writer).unwrap();
    }
}

/// Commits results without end and prints each acknowledged one.
async fn write(store: std::sync::Arc<impl Ingest>, monitor: i64, round: i64) {
    for n in 0.. {
        let planned_at = at(round * 1_000_000 + n);
        let result = match n % 3 {
            0 => ok(monitor, planned_at, 5),
            1 => error(monitor, planned_at),
            _ => missed(monitor, planned_at, 1, 1),
        };
        let state = MonitorLocationState {
            monitor_id: result.monitor_id,
            location_id: result.location_id,
            check_id: result.check_id,
            planned_at,
            outcome: result.outcome,
            status: result.status,
            duration_us: 0,
            streak_started_at: planned_at,
            streak: 1,
            last_slot_at: Some(planned_at),
            last_full_page_at: None,
        };
        let commit =
            IngestBatch { results: vec![result], location_states: vec![state], ..IngestBatch::default() };
        store.commit(commit).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nkept {monitor} {}", planned_at.as_micros()).unwrap();
        out.flush().unwrap();
    }
}

#[tokio::test]
async fn a_process_that_is_killed_loses_no_acknowledged_result() {
    let folder = tempfile::tempdir().unwrap();
    let rounds = if full() { 100 } else { 5 };
    let mut all_acknowledged = BTreeSet::new();
    for round in 0..rounds {
        let acknowledged = kill_one(folder.path(), round);
        assert!(!acknowledged.is_empty(), "the child said something before it was killed");
        all_acknowledged.extend(acknowledged);

        let store = sqlite(folder.path());
        let found: BTreeSet<_> =
            all(&store).await.iter().map(|r| (r.monitor_id.0, r.planned_at.as_micros())).collect();
        let lost: Vec<_> = all_acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "round {round}: {} acknowledged results are lost: {lost:?}", lost.len());
        for state in store.location_states().await.unwrap() {
            // State and result are committed in one transaction.
            let newest = found.iter().rfind(|(monitor, _)| MonitorId(*monitor) == state.monitor_id).unwrap();
            assert_eq!(state.planned_at.as_micros(), newest.1);
        }
        store.close().await;
        assert_whole(folder.path());
    }
    println!("{rounds} kills, {} results acknowledged, none lost", all_acknowledged.len());
}

/// Starts the child, kills it at a random moment, and returns the results that it acknowledged.
fn kill_one(folder: &Path, round: i64) -> Vec<(i64, i64)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["store::killed::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("kept ")).unwrap();
    let killer = std::thread::spawn(move || {
        // The random moment is the point of the test, so there is nothing to wait for.
        std::thread::sleep(Duration::from_micros(RandomState::new().hash_one(0) % 300_000));
        child.kill().unwrap();
        child.wait().unwrap();
    });
    let mut texts = vec![first];
    texts.extend(lines.map_while(Result::ok));
    killer.join().unwrap();
    texts.iter().filter_map(|line| parse(line)).collect()
}

/// Parses a line. The kill may have cut the last one, so the time must have all its digits.
fn parse(line: &str) -> Option<(i64, i64)> {
    let (monitor, micros) = line.strip_prefix("kept ")?.split_once(' ')?;
    Some((monitor.parse().ok()?, micros.parse().ok().filter(|_| micros.len() == 16)?))
}
