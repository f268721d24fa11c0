//! `vigie serve` killed at random moments: results that it showed are kept, and every slot is accounted for.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{CheckResult, CheckTrigger, MonitorId, Outcome, Timestamp};
use vigie::schedule::SlotGrid;
use vigie::targets::{BuiltInTargetAddresses, BuiltInTargetConfig, BuiltInTargets};

use crate::endurance::daemon::{Daemon, list};
use crate::support::long_tests::full;

/// Each runs once a minute, so there are ten checks a second.
const MONITORS: usize = 600;
const INTERVAL: Duration = Duration::from_mins(1);
/// Time limit of a restart, on a busy machine.
const READY_WITHIN: Duration = Duration::from_secs(15);
/// Late runs after a restart start within twice their lateness.
const SETTLED_WITHIN: Duration = Duration::from_mins(1);

/// The results shown so far, by check id.
type ShownResults = BTreeMap<String, CheckResult>;

#[test]
fn a_killed_server_keeps_shown_results_and_accounts_for_every_slot() {
    let rounds = if full() { 100 } else { 5 };
    let mut random = RandomMoments::new();
    println!("seed {}, to be repeated with VIGIE_TEST_SEED", random.0);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let targets = runtime.block_on(BuiltInTargets::start(BuiltInTargetConfig::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (monitors, data) = (folder.path().join("monitors"), folder.path().join("data"));
    write_monitors(&monitors, targets.addresses());
    let args = ["--data", data.to_str().unwrap(), "--monitors", monitors.to_str().unwrap()];

    let mut shown = ShownResults::new();
    let (mut slowest, mut first) = (Duration::ZERO, None);
    for round in 1..=rounds {
        let server = Daemon::start(&args);
        first.get_or_insert_with(now);
        slowest = slowest.max(server.ready_after);
        compare(&shown, &all(&server), round);
        watch_and_kill(server, random.below(7_000), &mut shown);
        assert_whole(&data);
        if round % 25 == 0 {
            // Long enough for whole slots to pass.
            std::thread::sleep(INTERVAL + Duration::from_millis(random.below(30_000)));
        }
    }
    let until = now();
    let server = Daemon::start(&args);
    compare(&shown, &all(&server), rounds + 1);
    let accounted = count_accounted_slots(&server, first.unwrap(), until);
    // The first server ran slots before it was known to be ready.
    let due = first.unwrap()..until;
    let shown_due = shown.values().filter(|result| due.contains(&result.planned_at)).count();
    println!("{rounds} kills, {} results seen, {accounted} slots, slowest start {slowest:?}", shown.len());
    assert!(shown.len() >= 10 * rounds && accounted >= shown_due as u64, "too little happened");
    assert!(slowest < READY_WITHIN, "a restart took {slowest:?}");
}

/// Random moments derived from a seed (SplitMix64).
pub struct RandomMoments(pub u64);

impl RandomMoments {
    /// Uses a new seed, or that of the environment.
    pub fn new() -> Self {
        let seed_text = std::env::var("VIGIE_TEST_SEED").ok().map(|text| text.parse().unwrap());
        let seed: u64 = seed_text.unwrap_or_else(|| RandomState::new().hash_one(0));
        Self(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) % bound
    }
}

/// Writes several monitor files, with outcomes of every kind.
fn write_monitors(folder: &Path, targets: BuiltInTargetAddresses) {
    std::fs::create_dir(folder).unwrap();
    let monitor = |n: usize| {
        let shared = json!({"key": format!("m{n}"), "name": format!("m{n}"), "billing_plancode": "x",
            "interval": 1, "timeout": 10, "enabled": true});
        let own = match n % 5 {
            0 => json!({"type": "tcp", "hostname": "127.0.0.1", "port": targets.tcp.port()}),
            1 => json!({"type": "website", "url": format!("http://{}/", targets.http)}),
            2 => json!({"type": "website", "url": format!("http://{}/status/503", targets.http)}),
            3 => json!({"type": "website", "url": format!("http://{}/redirect", targets.http),
                "http_follow_redirects": false, "retry_on_failure": true}),
            _ => json!({"type": "name-server", "hostname": "127.0.0.1", "port": targets.dns.port(),
                "name_to_resolve": "a.test"}),
        };
        let (Value::Object(mut fields), Value::Object(own)) = (shared, own) else { unreachable!() };
        fields.extend(own);
        Value::Object(fields)
    };
    let all: Vec<Value> = (0..MONITORS).map(monitor).collect();
    for (n, part) in all.chunks(100).enumerate() {
        std::fs::write(folder.join(format!("{n}.json")), serde_json::to_string(part).unwrap()).unwrap();
    }
}

/// Reads results until the server is killed, `millis` from now and after at least one read.
fn watch_and_kill(mut server: Daemon, millis: u64, shown: &mut ShownResults) {
    let (address, token) = (server.address, server.token.clone());
    let from = now().as_micros() / 1_000_000 - 90;
    let path = format!("/api/v3/results?from={}", Timestamp::from_seconds(from));
    shown.extend(list(address, &path, token.as_deref()).unwrap().into_iter().map(record));
    let killer = std::thread::spawn(move || {
        // The moment is arbitrary on purpose.
        std::thread::sleep(Duration::from_millis(millis));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
    });
    while let Some(results) = list(address, &path, token.as_deref()) {
        shown.extend(results.into_iter().map(record));
    }
    killer.join().unwrap();
}

fn record(result: Value) -> (String, CheckResult) {
    let id = result["check_id"].as_str().unwrap().to_owned();
    (id, serde_json::from_value(result).unwrap())
}

fn all(server: &Daemon) -> ShownResults {
    server.list("/api/v3/results").into_iter().map(record).collect()
}

/// Asserts that each result of `before` is unchanged in `after`; only a missed one may have become a real one.
fn compare(before: &ShownResults, after: &ShownResults, round: usize) {
    for (id, was) in before {
        let Some(is) = after.get(id) else { panic!("round {round}: {id} was shown and is lost: {was:#?}") };
        let replaced = was.outcome == Outcome::Missed && is.missed.is_none();
        assert!(replaced || was == is, "round {round}: {id} was {was:#?}\nand is {is:#?}");
    }
}

/// Asserts that the files of the killed process are an intact database. Checks a copy, since opening it would repair
/// what the next start has to cope with.
fn assert_whole(data: &Path) {
    let copy = tempfile::tempdir().unwrap();
    for name in ["vigie.db", "vigie.db-wal"] {
        if data.join(name).exists() {
            std::fs::copy(data.join(name), copy.path().join(name)).unwrap();
        }
    }
    let database = rusqlite::Connection::open(copy.path().join("vigie.db")).unwrap();
    let found: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
}

/// Waits until each slot in `from..until` of each monitor has a result or is part of one missed record, and none has
/// two; returns the number of slots.
fn count_accounted_slots(server: &Daemon, from: Timestamp, until: Timestamp) -> u64 {
    let monitors = server.list("/api/v3/monitors");
    assert_eq!(monitors.len(), MONITORS);
    let ids: Vec<_> = monitors.iter().map(|monitor| MonitorId(monitor["id"].as_i64().unwrap())).collect();
    let started = Instant::now();
    loop {
        let results = all(server);
        let mut slots: BTreeSet<(MonitorId, Timestamp)> = BTreeSet::new();
        let mut checked_first = BTreeSet::new();
        for result in results.values() {
            if result.trigger == CheckTrigger::First {
                let is_slot = grid(result.monitor_id, result.planned_at, result.planned_at + INTERVAL)
                    .any(|(_, slot)| slot == result.planned_at);
                assert!(!is_slot, "a first check takes a slot: {result:#?}");
                assert!(checked_first.insert(result.monitor_id), "checked first twice: {result:#?}");
                continue;
            }
            for slot in slots_of(result) {
                let is_first = slots.insert((result.monitor_id, slot));
                assert!(is_first, "{slot:?} is accounted for twice, at last by {result:#?}");
            }
        }
        let expected: Vec<_> = ids.iter().flat_map(|&id| grid(id, from, until)).collect();
        let open: Vec<_> = expected.iter().filter(|slot| !slots.contains(slot)).collect();
        if open.is_empty() {
            return expected.len() as u64;
        }
        let waited = started.elapsed();
        assert!(waited < SETTLED_WITHIN, "{} of {} slots are lost: {open:?}", open.len(), expected.len());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Returns the slots that `result` stands for, which must be as many as it states.
fn slots_of(result: &CheckResult) -> Vec<Timestamp> {
    let last = result.missed.map_or(result.planned_at, |missed| missed.last_planned_at);
    let grid: Vec<_> = grid(result.monitor_id, result.planned_at, last + Duration::from_micros(1))
        .map(|(_, slot)| slot)
        .collect();
    assert_eq!(grid.len(), result.run_count() as usize, "{result:#?}");
    assert_eq!(grid.first(), Some(&result.planned_at), "it is no slot: {result:#?}");
    grid
}

fn grid(id: MonitorId, from: Timestamp, until: Timestamp) -> impl Iterator<Item = (MonitorId, Timestamp)> {
    let slots = SlotGrid::new(id, INTERVAL, None);
    let first = slots.first_slot_at_or_after(from);
    std::iter::successors(Some(first), move |&slot| Some(slots.next_slot_after(slot)))
        .take_while(move |&slot| slot < until)
        .map(move |slot| (id, slot))
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}
