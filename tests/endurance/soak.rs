//! Ten minutes at a high rate: memory and descriptors stay constant. Runs with `VIGIE_FULL=1` only.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::endurance::daemon::vigie;
use crate::support::long_tests::full;

/// Setting `store.cache_mib`: full before the warm-up ends. A larger cache, which fills as long as the database grows,
/// would hide leaks.
const CACHE_MIB: &str = "4";
/// Number of monitors, each with one run per second.
const MONITORS: &str = "400";
const WARM_UP: Duration = Duration::from_mins(2);
const MEASURED: Duration = Duration::from_mins(8);
/// Start of the last minute.
const LAST_MINUTE: Duration = Duration::from_mins(9);
/// Time for the start and the end.
const OVERHEAD: Duration = Duration::from_mins(2);

#[test]
fn ten_minutes_of_load_leak_no_memory_or_descriptors() {
    if !full() {
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
        assert!(passed < WARM_UP + MEASURED + OVERHEAD, "it does not end");
        // The maxima of one minute each, as both values vary with the number of checks in progress.
        if (WARM_UP..WARM_UP + Duration::from_mins(1)).contains(&passed) {
            early.sample(&process);
        } else if (LAST_MINUTE..WARM_UP + MEASURED).contains(&passed) {
            late.sample(&process);
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
    // About thirty descriptors stay open; those of checks in progress vary.
    assert!(late.descriptors <= early.descriptors + 20, "descriptors leak: {early:?} to {late:?}");
}

/// The maxima of several samples.
#[derive(Debug, Default)]
struct Usage {
    resident_kb: u64,
    descriptors: usize,
}

impl Usage {
    fn sample(&mut self, process: &Path) {
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        self.resident_kb = self.resident_kb.max(resident.unwrap_or(0));
        let open = std::fs::read_dir(process.join("fd")).map_or(0, Iterator::count);
        self.descriptors = self.descriptors.max(open);
    }
}
