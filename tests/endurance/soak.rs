//! Ten minutes at a high rate: memory and descriptors stay where they are. With `VIGIE_FULL=1` only.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::endurance::daemon::vigie;

/// Setting `store.cache_mib`: full before the warm-up is over. A larger one fills for as long as the database
/// grows, which is what it is there for, and would hide what this is about.
const CACHE_MIB: &str = "4";
/// Planned once a second each.
const MONITORS: &str = "400";
const WARM_UP: Duration = Duration::from_mins(2);
const MEASURED: Duration = Duration::from_mins(8);
/// When the last minute begins.
const LAST: Duration = Duration::from_mins(9);
/// Time that the start and the end may take beside that.
const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn ten_minutes_of_load_leave_memory_and_descriptors_where_they_were() {
    if !crate::endurance::full() {
        return;
    }
    let started = Instant::now();
    let seconds = |duration: Duration| duration.as_secs().to_string();
    let mut command = vigie();
    command.args(["load", "--monitors", MONITORS, "--interval", "1", "--type", "website", "--json"]);
    command.args(["--warm-up", &seconds(WARM_UP), "--duration", &seconds(MEASURED)]);
    command.env("VIGIE_STORE_CACHE_MIB", CACHE_MIB);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let process = Path::new("/proc").join(child.id().to_string());
    let (mut early, mut late) = (Usage::default(), Usage::default());
    while child.try_wait().unwrap().is_none() {
        let passed = started.elapsed();
        assert!(passed < WARM_UP + MEASURED + PATIENCE, "it does not end");
        // The highest of a minute each, as both move with the number of checks in flight.
        if (WARM_UP..WARM_UP + Duration::from_mins(1)).contains(&passed) {
            early.look(&process);
        } else if (LAST..WARM_UP + MEASURED).contains(&passed) {
            late.look(&process);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{early:?} became {late:?}: {figures:#}");
    assert_eq!((&figures["missed"], &figures["not_ok"]), (&0.into(), &0.into()), "{figures:#}");
    assert!(early.resident_kb > 0 && late.descriptors > 0, "nothing was seen");
    assert!(late.resident_kb * 10 < early.resident_kb * 11, "memory grows: {early:?} to {late:?}");
    // Those that stay open are some thirty; checks in flight come and go.
    assert!(late.descriptors <= early.descriptors + 20, "descriptors leak: {early:?} to {late:?}");
}

/// The most that was seen.
#[derive(Debug, Default)]
struct Usage {
    resident_kb: u64,
    descriptors: usize,
}

impl Usage {
    fn look(&mut self, process: &Path) {
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        self.resident_kb = self.resident_kb.max(resident.unwrap_or(0));
        let open = std::fs::read_dir(process.join("fd")).map_or(0, Iterator::count);
        self.descriptors = self.descriptors.max(open);
    }
}
