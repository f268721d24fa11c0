//! Rounds of faults: what breaks is healed, and then the books have to be right.
#![allow(clippy::print_stdout, reason = "the ledger is printed")]

use std::ffi::OsStr;
use std::ops::Range;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sqlx::Row;
use vigie::domain::Timestamp;

use super::books;
use super::fault::{Fault, Part};
use super::ledger::{Excuse, Ledger, balance};
use super::play::{location_of, play};
use super::random_order::shuffle;
use super::store_order::CutOff;
use super::world::{INTERVAL, LOCATION_THAT_FILLS_ITS_SPOOL, World};
use super::{earlier, store_order, writers};
use crate::agents::network::SETUP;
use crate::daemon::ledger::now;
use crate::daemon::postgres_ledger::differing_counts;
use crate::endurance::kill::RandomMoments;
use crate::support::namespace::inside_with_mounts;

/// Faults of one round in a whole run.
const FAULTS_PER_ROUND: usize = 3;
/// How long everything may take to work again after the last fault, on a busy machine.
const WELL_WITHIN: Duration = Duration::from_secs(90);
/// How long the books may take to be right after that. Agents send results again that are not stored after two minutes:
/// a NATS whose disk was full may have lost what it had accepted.
const SETTLED_WITHIN: Duration = Duration::from_mins(4);
/// Whole runs of `--full`, and how many go on at once: they mostly wait.
const WHOLE_RUNS: usize = 50;
const RUNS_AT_ONCE: usize = 5;

/// Three faults of different parts, by the seed.
#[test]
fn a_few_faults_leave_the_books_right() {
    const NAME: &str = "cluster::round::a_few_faults_leave_the_books_right";
    if !inside_with_mounts(NAME, SETUP) {
        return;
    }
    let mut random = RandomMoments::new();
    println!("seed {}, to be repeated with VIGIE_TEST_SEED", random.0);
    let mut faults: Vec<_> = Fault::ALL.into_iter().filter(|fault| !fault.is_long()).collect();
    shuffle(&mut faults, &mut random);
    let mut round: Vec<Fault> = Vec::new();
    for fault in faults {
        let parts: Vec<Part> = round.iter().map(|fault| fault.part()).collect();
        if round.len() < FAULTS_PER_ROUND && !parts.contains(&fault.part()) {
            round.push(fault);
        }
    }
    run(&[round], random);
}

/// Every fault, in an order of chance; or those of `VIGIE_TEST_FAULTS`, separated by commas, in one round.
#[test]
fn a_whole_run_leaves_the_books_right() {
    const NAME: &str = "cluster::round::a_whole_run_leaves_the_books_right";
    let chosen = std::env::var("VIGIE_TEST_FAULTS").ok();
    if chosen.is_none() && !crate::endurance::full() {
        return;
    }
    if chosen.as_ref().is_none_or(|names| names.contains("PartsUpgraded")) {
        // Built before this test goes to where there is no network.
        earlier::program();
    }
    if !inside_with_mounts(NAME, SETUP) {
        return;
    }
    let mut random = RandomMoments::new();
    println!("seed {}, to be repeated with VIGIE_TEST_SEED", random.0);
    if let Some(names) = chosen {
        let fault = |name: &str| Fault::parse(name).unwrap_or_else(|| panic!("no fault `{name}`"));
        return run(&[names.split(',').map(fault).collect()], random);
    }
    let mut faults = Fault::ALL;
    shuffle(&mut faults, &mut random);
    let rounds: Vec<Vec<Fault>> = faults.chunks(FAULTS_PER_ROUND).map(<[Fault]>::to_vec).collect();
    run(&rounds, random);
}

#[test]
fn fifty_whole_runs_leave_the_books_right() {
    if !crate::endurance::full() {
        return;
    }
    // Each run would build it.
    let earlier = earlier::program();
    let mut random = RandomMoments::new();
    let seeds: Vec<u64> = (0..WHOLE_RUNS).map(|_| random.below(u64::MAX)).collect();
    let seeds = Mutex::new(seeds.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..RUNS_AT_ONCE {
            scope.spawn(|| {
                while let Some(seed) = next_seed(&seeds) {
                    run_whole(seed, earlier);
                }
            });
        }
    });
}

fn next_seed(seeds: &Mutex<std::vec::IntoIter<u64>>) -> Option<u64> {
    seeds.lock().unwrap().next()
}

/// Runs all faults in a process of its own.
fn run_whole(seed: u64, earlier: &OsStr) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cluster::round::a_whole_run_leaves_the_books_right", "--nocapture"])
        .env("VIGIE_TEST_SEED", seed.to_string())
        .env("VIGIE_TEST_EARLIER_PROGRAM", earlier)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the run with seed {seed} failed: {text}{errors}");
}

/// What happened so far.
struct History {
    from: Timestamp,
    /// When the site was down.
    outages: Vec<Range<Timestamp>>,
    excuses: Vec<Excuse>,
    cut_offs: Vec<CutOff>,
    is_database_replaced: bool,
}

fn run(rounds: &[Vec<Fault>], mut random: RandomMoments) {
    let started = Instant::now();
    let mut world =
        World::start(rounds.iter().flatten().any(|fault| *fault == Fault::AgentCutOffBeyondItsSpool));
    writers::note_writers(&world);
    store_order::note_results(&world);
    wait_until_well(&world, now());
    let from = now() + INTERVAL;
    let mut history = History {
        from,
        outages: Vec::new(),
        excuses: Vec::new(),
        cut_offs: Vec::new(),
        is_database_replaced: false,
    };
    println!("started in {:.0?}", started.elapsed());
    for faults in rounds {
        play_round(&mut world, faults, &mut history, &mut random);
    }
    let (changes, wrong) = writers::examine(&world);
    assert!(wrong.is_empty(), "others than the leader wrote: {wrong:#?}");
    let wrong = store_order::examine(&world, &history.cut_offs);
    assert!(wrong.is_empty(), "older results were stored before the newest: {wrong:#?}");
    println!("changes of each leader: {changes:?}; in all {:.0?}", started.elapsed());
}

fn play_round(world: &mut World, faults: &[Fault], history: &mut History, random: &mut RandomMoments) {
    let started = Instant::now();
    let is_down_first = random.below(2) == 0;
    let mut down_at = None;
    let mut begin_outage = |world: &World| {
        let at = *down_at.get_or_insert_with(now);
        world.site.set_down(true);
        at
    };
    if is_down_first {
        begin_outage(world);
        std::thread::sleep(Duration::from_millis(random.below(8_000)));
    }
    for &fault in faults {
        let began = now();
        println!("  {fault:?}");
        play(world, fault, random);
        if fault.loses_results() || fault == Fault::AgentClockSteps {
            let time = began - 2 * INTERVAL..now() + 2 * INTERVAL;
            history.excuses.push(Excuse { location: location_of(fault), time });
        }
        // A spool that is nearly full gives up what is committed first, and the replica may not have that.
        if fault == Fault::DatabaseFailedOver {
            let time = began - 2 * INTERVAL..now();
            history.excuses.push(Excuse { location: LOCATION_THAT_FILLS_ITS_SPOOL, time });
        }
        if fault == Fault::AgentCutOffBeyondItsSpool {
            history.cut_offs.push(CutOff { location: location_of(fault), time: began..now() });
        }
        history.is_database_replaced |= fault == Fault::DatabaseFailedOver;
        begin_outage(world);
        std::thread::sleep(Duration::from_millis(1_000 + random.below(4_000)));
    }
    let well_after = wait_until_well(world, now());
    // Of the runs now, none is late.
    std::thread::sleep(3 * INTERVAL);
    let up_at = now();
    world.site.set_down(false);
    let down_at = down_at.unwrap_or(up_at);
    history.outages.push(down_at..up_at);
    let ledger = settle(world, history, history.from..up_at);
    println!("{faults:?}: well {well_after:.0?} after the last one, {ledger}, in {:.0?}", started.elapsed());
    println!("  kB in the spools: {:?}", world.spools());
}

/// Waits until every monitor has a result of every location that was planned after `since`; returns how long that took.
fn wait_until_well(world: &World, since: Timestamp) -> Duration {
    let started = Instant::now();
    let sql = format!(
        "SELECT DISTINCT monitor_id, location_id FROM results
         WHERE planned_at > {} AND missed_run_count IS NULL AND NOT is_first_check",
        since.as_micros()
    );
    let expected: usize = world.monitors.iter().map(|monitor| monitor.locations.len()).sum();
    loop {
        let rows = world.rows(&sql);
        if rows.len() == expected {
            return started.elapsed();
        }
        let missing = || {
            let has = |monitor: i64, location: i64| {
                rows.iter().any(|row| (row.get::<i64, _>(0), row.get::<i64, _>(1)) == (monitor, location))
            };
            let places = world
                .monitors
                .iter()
                .flat_map(|monitor| monitor.locations.iter().map(move |at| (monitor, *at)));
            places
                .filter(|(monitor, at)| !has(monitor.id, world.locations[*at]))
                .map(|(monitor, at)| format!("`{}` at {at}", monitor.name))
                .collect::<Vec<_>>()
        };
        assert!(started.elapsed() < WELL_WITHIN, "no results of {:?}", missing());
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// Waits until the books are right; returns the ledger.
fn settle(world: &World, history: &History, time: Range<Timestamp>) -> String {
    let started = Instant::now();
    loop {
        let ledger: Ledger = balance(world, &time, &history.excuses);
        let books = books::examine(world, &history.outages, history.is_database_replaced);
        let url = world.cluster.postgres.url(&world.cluster.database);
        let counts = world.runtime.block_on(differing_counts(&url));
        if ledger.wrong.is_empty() && books.wrong.is_empty() && counts.is_empty() {
            return format!(
                "{ledger}; {} episodes, {} notifications, {} of them came again with their key",
                books.episodes, books.notifications, books.repeated
            );
        }
        assert!(
            started.elapsed() < SETTLED_WITHIN,
            "{ledger}: {:#?} {:#?} {counts:?}",
            ledger.wrong.iter().take(40).collect::<Vec<_>>(),
            books.wrong.iter().take(40).collect::<Vec<_>>()
        );
        std::thread::sleep(Duration::from_millis(500));
    }
}
