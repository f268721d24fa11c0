//! Browser checks in sequence on a running server: memory, processes, descriptors and files stay constant. Twenty
//! checks, or 200 with `VIGIE_FULL=1`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::endurance::alerts::serve;
use crate::endurance::daemon::Daemon;
use crate::support::long_tests::full;
use crate::support::{geckodriver, lacking};

/// Checks before the first sample, which fill caches and the allocator.
const WARM_UP: usize = 8;
/// Time limit of one check, on a busy machine.
const TIME_LIMIT: Duration = Duration::from_mins(3);
/// Time within which the browser of a check ends after its result.
const SETTLES_WITHIN: Duration = Duration::from_secs(20);
/// Tolerated growth of the resident memory, in KiB: a screenshot needs a MiB or more while it is taken.
const SLACK_KB: u64 = 16 << 10;

#[test]
fn browser_checks_leave_no_memory_processes_or_files() {
    let browsers = browsers();
    if browsers.is_empty() {
        return;
    }
    let rounds = if full() { 200 } else { 20 };
    let site = serve(|_, _| 200);
    let folder = tempfile::tempdir().unwrap();
    let create_folder = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path.display().to_string()
    };
    let (monitors, data, temporary) =
        (create_folder("monitors"), create_folder("data"), create_folder("temporary"));
    let profiles = create_folder("profiles");
    std::fs::write(Path::new(&monitors).join("all.json"), scripts(&site.to_string(), &browsers)).unwrap();
    let driver = geckodriver::geckodriver().map(|path| path.display().to_string());
    let mut settings = vec![
        ("TMPDIR", temporary.as_str()),
        ("VIGIE_BROWSER_FOLDER", profiles.as_str()),
        ("VIGIE_BROWSER_START_SECONDS", "90"),
        ("VIGIE_STORE_CACHE_MIB", "4"),
    ];
    settings.extend(driver.as_deref().map(|driver| ("VIGIE_BROWSER_GECKODRIVER", driver)));
    let server = Daemon::start_with(&["--data", &data, "--monitors", &monitors], &settings);
    let all = server.list("/api/v3/monitors");
    let all: Vec<(i64, bool)> = all
        .iter()
        .map(|one| (one["id"].as_i64().unwrap(), one["name"].as_str().unwrap().starts_with("good")))
        .collect();
    assert_eq!(all.len(), 2 * browsers.len(), "{all:?}");
    // The result of a check is there before its browser has ended and its files are removed.
    let sample = || {
        let end = Instant::now() + SETTLES_WITHIN;
        loop {
            let usage = ResourceUsage::at(server.child.id(), &[&temporary, &profiles]);
            if usage.processes.is_empty() || Instant::now() > end {
                return usage;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mut early = None;
    for round in 0..rounds {
        let (monitor, passes) = all[round % all.len()];
        let test = check(&server, monitor);
        assert_eq!(test["progress"], if passes { 2 } else { 3 }, "{test:#}");
        if round + 1 == WARM_UP {
            early = Some(sample());
        }
    }
    let (early, late) = (early.unwrap(), sample());
    println!("{rounds} checks: {early:?} became {late:?}");
    assert!(early.resident_kb > 0 && early.descriptors > 0, "nothing was seen");
    assert_eq!(late.processes, Vec::<String>::new());
    assert_eq!(late.files, early.files);
    assert!(late.descriptors <= early.descriptors + 2, "descriptors leak: {early:?} to {late:?}");
    assert!(late.resident_kb <= early.resident_kb + SLACK_KB, "memory grows: {early:?} to {late:?}");
}

/// Returns the names of the installed browsers, as in monitor fields.
fn browsers() -> Vec<&'static str> {
    let is_in_path = |program: &str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(program).is_file())
    };
    let test = "browser_checks_leave_no_memory_processes_or_files";
    let has_gecko = geckodriver::geckodriver().is_some() || is_in_path("geckodriver");
    let all =
        [("Google Chrome", is_in_path("chromedriver")), ("Firefox", is_in_path("firefox-esr") && has_gecko)];
    let mut found = Vec::new();
    for (name, is_installed) in all {
        if is_installed {
            found.push(name);
        } else {
            lacking::lacks(&format!("{test} ({name})"), "the browser with its driver", "run tests/run");
        }
    }
    found
}

/// Returns one script per browser that passes with a screenshot, and one that times out with a screenshot. They run on
/// demand only: a planned check could be in progress when the processes are counted.
fn scripts(site: &str, browsers: &[&str]) -> String {
    let monitor = |name: &str, browser: &str, acts: &str| {
        let script = format!(
            "<script version=\"1\" name=\"{name}\" base=\"http://{site}/\"><step name=\"one\"><open url=\"/\"/>\
             {acts}</step></script>"
        );
        json!({"key": format!("{name}-{browser}"), "name": format!("{name} {browser}"), "type": "browserscript",
            "billing_plancode": "x", "enabled": false, "timeout": 60, "browser_type": browser,
            "allow_internal_testing": true, "script": script})
    };
    let pairs = browsers.iter().flat_map(|browser| {
        [
            monitor("good", browser, "<screenshot name=\"seen\"/>"),
            monitor("bad", browser, "<wait-for-text contains=\"what never comes\" timeout=\"1\"/>"),
        ]
    });
    Value::from(pairs.collect::<Vec<_>>()).to_string()
}

/// Runs one on-demand check to its end.
fn check(server: &Daemon, monitor: i64) -> Value {
    let get_json = |path: &str| {
        let (status, body) = server.get(path).expect("an answer");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let started_at = Instant::now();
    let response = get_json(&format!("/api/v3/tests?monitor_id={monitor}"));
    let result_url = response["result_url"].as_str().unwrap();
    loop {
        let test = get_json(result_url);
        if test["progress"] != 1 {
            return test;
        }
        assert!(started_at.elapsed() < TIME_LIMIT, "{test:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Resources of the server.
#[derive(Debug)]
struct ResourceUsage {
    resident_kb: u64,
    descriptors: usize,
    /// Its child processes.
    processes: Vec<String>,
    /// Files in the folders of profiles and of temporary files.
    files: BTreeSet<PathBuf>,
}

impl ResourceUsage {
    fn at(server: u32, folders: &[&str]) -> Self {
        let process = Path::new("/proc").join(server.to_string());
        let status = std::fs::read_to_string(process.join("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        Self {
            resident_kb: line.split_whitespace().next().unwrap().parse().unwrap(),
            descriptors: std::fs::read_dir(process.join("fd")).unwrap().count(),
            processes: children(server),
            files: folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(path).collect(),
        }
    }
}

fn path(entry: std::io::Result<std::fs::DirEntry>) -> PathBuf {
    entry.unwrap().path()
}

/// Returns the processes with this parent. Orphans of a browser become children of the server.
fn children(parent: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name may contain spaces. After it come the state and the parent.
        let after = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        if after.split(' ').nth(1) == Some(&parent.to_string()) {
            found.push(stat);
        }
    }
    found
}
