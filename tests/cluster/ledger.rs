//! Balances planned runs against stored results. The planned runs are computed here, from the interval alone.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

use sqlx::Row;
use vigie::domain::{MissedReason, Timestamp};

use super::site::Visit;
use super::world::{INTERVAL, LOCATION_OF_AGENT, Monitor, World};

const INTERVAL_US: i64 = 1_000_000 * INTERVAL.as_secs().cast_signed();
/// How much before its planned time a check may start: clocks differ by that much.
const EARLY_US: i64 = 300_000;

/// A time in which runs of a location may be lost although they were made: its agent lost what it had.
pub struct Excuse {
    pub location: usize,
    pub time: Range<Timestamp>,
}

/// What became of the planned runs.
#[derive(Default)]
pub struct Ledger {
    planned: usize,
    stored: usize,
    missed: BTreeMap<&'static str, usize>,
    /// Runs without a record, with several, at a wrong time, or lost.
    pub wrong: Vec<String>,
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missed: usize = self.missed.values().sum();
        write!(f, "{} planned = {} stored + {missed} missed {:?}", self.planned, self.stored, self.missed)
    }
}

/// A row of the table of results that is no first check.
struct Record {
    planned_at: i64,
    run_count: i64,
    missed: Option<&'static str>,
}

/// The first check of a monitor covers no run.
const RECORDS: &str =
    "SELECT monitor_id, location_id, planned_at, coalesce(missed_run_count, 1), missed_reason
    FROM results WHERE NOT is_first_check";

/// Balances the runs planned in `time` at every location of every monitor.
pub fn balance(world: &World, time: &Range<Timestamp>, excuses: &[Excuse]) -> Ledger {
    let mut records: HashMap<(i64, i64), Vec<Record>> = HashMap::new();
    for row in world.rows(RECORDS) {
        let reason: Option<i16> = row.get(4);
        let missed = reason.map(|reason| MissedReason::ALL[usize::try_from(reason).unwrap()].name());
        let record = Record { planned_at: row.get(2), run_count: row.get(3), missed };
        records.entry((row.get(0), row.get(1))).or_default().push(record);
    }
    let visits = Visits::new(&world.site.visits(), world);
    let mut ledger = Ledger::default();
    for (index, monitor) in world.monitors.iter().enumerate() {
        let of_location =
            |at: usize| records.get(&(monitor.id, world.locations[at])).map_or(&[][..], Vec::as_slice);
        let first = monitor.locations.iter().find_map(|at| of_location(*at).first());
        let Some(first) = first else {
            ledger.wrong.push(format!("`{}` has no result", monitor.name));
            continue;
        };
        let phase = first.planned_at.rem_euclid(INTERVAL_US);
        for &at in &monitor.locations {
            let place = Place { monitor, index, location: at, excuses, visits: &visits };
            ledger.balance_place(&place, phase, time, of_location(at));
        }
    }
    ledger
}

/// A monitor at one of its locations.
struct Place<'a> {
    monitor: &'a Monitor,
    index: usize,
    location: usize,
    excuses: &'a [Excuse],
    visits: &'a Visits,
}

impl Ledger {
    fn balance_place(&mut self, place: &Place<'_>, phase: i64, time: &Range<Timestamp>, records: &[Record]) {
        let mut by_slot: HashMap<i64, Vec<Option<&'static str>>> = HashMap::new();
        for record in records {
            if record.planned_at.rem_euclid(INTERVAL_US) != phase {
                self.wrong.push(format!("{place} at {}: this was not planned", record.planned_at));
            }
            for number in 0..record.run_count {
                by_slot.entry(record.planned_at + number * INTERVAL_US).or_default().push(record.missed);
            }
        }
        let from = time.start.as_micros();
        let mut slot = from + (phase - from).rem_euclid(INTERVAL_US);
        while slot < time.end.as_micros() {
            self.planned += 1;
            match by_slot.get(&slot).map(Vec::as_slice) {
                Some([None]) => self.stored += 1,
                Some([Some(reason)]) => {
                    *self.missed.entry(reason).or_default() += 1;
                    if place.was_run(slot) && !place.is_excused(slot) {
                        self.wrong
                            .push(format!("{place} at {slot}: it ran, and its result is lost ({reason})"));
                    }
                }
                None => self.wrong.push(format!("{place} at {slot}: no record")),
                Some(several) => self.wrong.push(format!("{place} at {slot}: {several:?}")),
            }
            slot += INTERVAL_US;
        }
    }
}

impl Place<'_> {
    /// Whether the site was asked for the page of the monitor from this location at the time of a run.
    fn was_run(&self, slot: i64) -> bool {
        let at = slot - EARLY_US..slot + INTERVAL_US - EARLY_US;
        self.monitor.is_never_verified && self.visits.any(self.index, self.location, &at)
    }

    fn is_excused(&self, slot: i64) -> bool {
        let at = Timestamp::from_micros(slot);
        self.excuses.iter().any(|excuse| excuse.location == self.location && excuse.time.contains(&at))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of location {}", self.monitor.name, self.location)
    }
}

/// When the site was asked for each page, by page and location.
struct Visits(HashMap<(usize, usize), Vec<i64>>);

impl Visits {
    fn new(visits: &[Visit], world: &World) -> Self {
        let mut times: HashMap<(usize, usize), Vec<i64>> = HashMap::new();
        for visit in visits {
            let is_from = |address: &str| visit.from.to_string() == address;
            let agent = world.agents.iter().position(|agent| is_from(&agent.host.address));
            let page = visit.path.trim_start_matches('/').parse().ok();
            if let (Some(agent), Some(page)) = (agent, page) {
                times.entry((page, LOCATION_OF_AGENT[agent])).or_default().push(visit.at.as_micros());
            }
        }
        Self(times)
    }

    fn any(&self, page: usize, location: usize, time: &Range<i64>) -> bool {
        self.0.get(&(page, location)).is_some_and(|times| times.iter().any(|at| time.contains(at)))
    }
}
