//! A process that is killed at each of its file operations in turn: what it had added is there afterwards.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{ReadOrder, Spool, SpoolRecord, SpoolSettings};
use crate::domain::{CheckId, Timestamp};

const FOLDER_VARIABLE: &str = "VIGIE_TEST_SPOOL_FOLDER";
const KILL_POINT_VARIABLE: &str = "VIGIE_TEST_SPOOL_STEP";
/// Results that the process adds, two at a time.
const RESULT_COUNT: u64 = 12;

static PLANNED_KILL_POINT: LazyLock<Option<u32>> =
    LazyLock::new(|| std::env::var(KILL_POINT_VARIABLE).ok().and_then(|text| text.parse().ok()));
static REACHED_KILL_POINTS: AtomicU32 = AtomicU32::new(0);

/// Kills the process at the kill point that its parent named.
pub(super) fn die_at_planned_kill_point() {
    if let Some(planned) = *PLANNED_KILL_POINT
        && REACHED_KILL_POINTS.fetch_add(1, Ordering::Relaxed) + 1 == planned
    {
        let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
    }
}

fn settings() -> SpoolSettings {
    // Segments of 4 KiB: several files of each kind.
    SpoolSettings { max_bytes: 128 * 1024, max_age: Duration::from_hours(1) }
}

fn result(id: u64) -> SpoolRecord {
    SpoolRecord { check_id: CheckId(id), content: vec![u8::try_from(id).unwrap(); 700] }
}

fn capture(id: u64) -> SpoolRecord {
    SpoolRecord { check_id: CheckId(id), content: vec![u8::try_from(id).unwrap(); 1500] }
}

/// Runs in the process that is killed: says each step on its output.
#[test]
fn child_process() {
    let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
    let mut output = std::io::stdout();
    let mut spool = Spool::open(folder.as_ref(), settings()).unwrap();
    let now = Timestamp::from_seconds(1_800_000_000);
    for id in (1..=RESULT_COUNT).step_by(2) {
        spool.append(&[result(id), result(id + 1)], &[capture(id)], now).unwrap();
        writeln!(output, "added {}", id + 1).unwrap();
        if id % 6 == 5 {
            writeln!(output, "acknowledging {}", id - 1).unwrap();
            // The newest of them first, as an agent delivers them.
            let is_older = |check_id: CheckId| check_id.0 < id;
            let results =
                spool.read_results(ReadOrder::NewestFirst, is_older, usize::MAX, usize::MAX).unwrap();
            for result in results {
                spool.acknowledge(&[result.check_id]).unwrap();
            }
        }
    }
    writeln!(output, "done").unwrap();
}

#[test]
fn a_process_killed_at_any_file_operation_loses_nothing_that_it_had_added() {
    let mut killed = 0;
    for kill_point in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "spool::kill_tests::child_process", "--nocapture"])
            .env(FOLDER_VARIABLE, folder.path())
            .env(KILL_POINT_VARIABLE, kill_point.to_string())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let last = |label: &str| {
            let numbers = printed
                .lines()
                .filter_map(|line| line.trim().rsplit_once(label)?.1.trim().parse::<u64>().ok());
            numbers.max().unwrap_or(0)
        };
        let (added, acknowledged) = (last("added"), last("acknowledging"));
        let mut spool = Spool::open(folder.path(), settings()).unwrap();
        let held_records = spool.peek(usize::MAX, usize::MAX).unwrap();
        let ids: Vec<u64> = held_records.iter().map(|(result, _)| result.check_id.0).collect();
        for id in acknowledged + 1..=added {
            assert!(ids.contains(&id), "step {kill_point}: {id} is lost of {ids:?}, printed {printed}");
        }
        assert!(ids.is_sorted(), "step {kill_point}: {ids:?}");
        assert!(ids.iter().all(|id| *id <= added + 2), "step {kill_point}: {ids:?}");
        for (record, captures) in &held_records {
            let id = record.check_id.0;
            assert_eq!(*record, result(id), "step {kill_point}");
            if (acknowledged + 1..=added).contains(&id) && id % 2 == 1 {
                assert_eq!(captures, &[capture(id)], "step {kill_point}");
            }
        }
        // It goes on working.
        spool.append(&[result(200)], &[], Timestamp::from_seconds(1_800_000_000)).unwrap();
        let all: Vec<_> = ids.into_iter().chain([200]).map(CheckId).collect();
        spool.acknowledge(&all).unwrap();
        assert_eq!(spool.bytes(), 0);
        if printed.contains("done") {
            assert!(output.status.success());
            break;
        }
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&output.status),
            Some(9),
            "step {kill_point}: {printed}"
        );
        killed += 1;
    }
    assert!(killed > 40, "only {killed} steps");
}
