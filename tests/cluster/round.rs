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
use super::play::{cut_off_lone_agent, join_lone_agent_with_full_spool, location_of, play};
use super::random_order::shuffle;
use super::store_order::CutOff;
use super::world::{INTERVAL, LOCATION_THAT_FILLS_ITS_SPOOL, World};
use super::{earlier, store_order, writers};
use crate::agents::network::SETUP;
use crate::daemon::ledger::now;
use crate::daemon::postgres_ledger::differing_counts;
use crate::endurance::kill::RandomMoments;
use crate::support::long_tests::full;
use crate::support::namespace::inside_with_mounts;

/// Faults of a short run.
const FAULTS_OF_SHORT_RUN: usize = 3;
/// Rounds of a whole run besides that in which a spool fills.
const OTHER_ROUNDS: usize = 4;
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
        if round.len() < FAULTS_OF_SHORT_RUN && !parts.contains(&fault.part()) {
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
    if chosen.is_none() && !full() {
        return;
    }
    if chosen.as_ref().is_none_or(|names| names.contains("Upgraded")) {
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
    run(&whole_run(&mut random), random);
}

/// Deals all faults to rounds, in an order of chance.
fn whole_run(random: &mut RandomMoments) -> Vec<Vec<Fault>> {
    let mut faults = Fault::ALL.to_vec();
    shuffle(&mut faults, random);
    // While a spool fills, what takes long can happen, and one fault of each other part.
    let mut long = vec![Fault::AgentCutOffBeyondItsSpool, Fault::AgentClockSteps, Fault::ControllersUpgraded];
    for part in [Part::Nats, Part::Database] {
        long.extend(faults.iter().find(|fault| fault.part() == part));
    }
    faults.retain(|fault| !long.contains(fault));
    // Faults of a part could hide each other: each round has as few of them as it can.
    faults.sort_by_key(|fault| fault.part());
    let mut rounds = vec![Vec::new(); OTHER_ROUNDS];
    for (number, fault) in faults.into_iter().enumerate() {
        rounds[number % OTHER_ROUNDS].push(fault);
    }
    rounds.push(long);
    for round in &mut rounds {
        shuffle(round, random);
    }
    shuffle(&mut rounds, random);
    rounds
}

#[test]
fn fifty_whole_runs_leave_the_books_right() {
    if !full() {
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

impl History {
    /// Notes what a fault that began at `began` and is healed now may have done.
    fn note(&mut self, fault: Fault, began: Timestamp) {
        let excused = began - 2 * INTERVAL;
        if fault.loses_results() || fault == Fault::AgentClockSteps {
            let time = excused..now() + 2 * INTERVAL;
            self.excuses.push(Excuse { location: location_of(fault), time });
        }
        // A spool that is nearly full gives up what is committed first, and the replica may not have that.
        if fault == Fault::DatabaseFailedOver {
            let time = excused..now();
            self.excuses.push(Excuse { location: LOCATION_THAT_FILLS_ITS_SPOOL, time });
        }
        if fault == Fault::AgentCutOffBeyondItsSpool {
            self.cut_offs.push(CutOff { location: location_of(fault), time: began..now() });
        }
        self.is_database_replaced |= fault == Fault::DatabaseFailedOver;
    }
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
    let fills_spool = faults.contains(&Fault::AgentCutOffBeyondItsSpool);
    let cut_off_at = fills_spool.then(|| {
        assert!(!faults.iter().any(|fault| fault.is_hidden_by_cut_off()), "{faults:?} hide each other");
        cut_off_lone_agent(world);
        now()
    });
    for &fault in faults.iter().filter(|fault| **fault != Fault::AgentCutOffBeyondItsSpool) {
        let (began, played) = (now(), Instant::now());
        play(world, fault, random);
        println!("  {fault:?} took {:.0?}", played.elapsed());
        history.note(fault, began);
        begin_outage(world);
        std::thread::sleep(Duration::from_millis(1_000 + random.below(4_000)));
    }
    if let Some(began) = cut_off_at {
        begin_outage(world);
        join_lone_agent_with_full_spool(world);
        println!("  AgentCutOffBeyondItsSpool took {}s", now().since(began).as_secs());
        history.note(Fault::AgentCutOffBeyondItsSpool, began);
        std::thread::sleep(Duration::from_millis(1_000 + random.below(4_000)));
    }
    let well_after = wait_until_well(world, now());
    // Of the runs now, none is late.
    std::thread::sleep(3 * INTERVAL);
    let up_at = now();
    world.site.set_down(false);
    let down_at = down_at.unwrap_or(up_at);
    history.outages.push(down_at..up_at);
    let settling = Instant::now();
    let ledger = settle(world, history, history.from..up_at);
    println!(
        "{faults:?}: well {well_after:.0?} after the last one, settled {:.0?} after that, {ledger}, in {:.0?}",
        settling.elapsed(),
        started.elapsed()
    );
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
