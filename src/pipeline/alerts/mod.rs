//! Who is to be woken, done: the watches of all monitors, fed by the loop that takes results (`ingest`), and what
//! follows from them. A turn of that loop takes results, words from elsewhere and the passing of time, and comes to
//! one transaction; what leaves the process begins after it was kept (architecture.md 4).

mod accounts;
mod after;
mod away;
mod baseline;
mod change;
mod hear;
mod notice;
mod places;
mod policy;
mod records;
mod start;
mod tell;
mod timers;
mod trace;
mod turn;
mod verify;
mod watched;

use crate::sync::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Bell, Planner};
use crate::alerting::Health;
use crate::catalog::Directory;
use crate::clock::Clock;
use crate::domain::{
    Capture, CheckId, EpisodeId, LocationId, MonitorId, NewNotification, Timestamp, Verification,
};
use crate::schema::Monitor;
use crate::store::{Alarms, Ledger, Outbox, Results};

use accounts::Accounts;
use away::Away;
use places::Places;
use start::Start;
use timers::Timers;
use trace::Traces;
pub(super) use turn::{After, Step};
use verify::Asks;
use watched::Watched;

/// What watching works with.
#[derive(Clone)]
pub struct LookoutParts {
    /// Keeps watches and outages.
    pub alarms: Arc<dyn Alarms>,
    /// Keeps messages.
    pub outbox: Arc<dyn Outbox>,
    /// Finds results that messages tell of.
    pub results: Arc<dyn Results>,
    /// Takes events.
    pub ledger: Arc<dyn Ledger>,
    /// Knows the accounts.
    pub directory: Arc<Directory>,
    /// Checks from another location, and traces.
    pub planner: Arc<dyn Planner>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Rung when there are new messages.
    pub bell: Bell,
}

/// How watching is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmSettings {
    /// Runs without data after which that is told; 0 never.
    pub no_data_runs: u32,
    /// How long a message waits for a traceroute (behaviour.md 6).
    pub trace_wait: Duration,
    /// Percent of its size within which an object of a page may grow and shrink.
    pub size_tolerance_percent: u32,
}

impl Default for AlarmSettings {
    fn default() -> Self {
        Self { no_data_runs: 5, trace_wait: Duration::from_secs(5), size_tolerance_percent: 10 }
    }
}

/// What the loop hears beside results.
pub(super) enum Word {
    /// New versions of monitors, and removed ones.
    Changed { puts: Vec<Monitor>, removed: Vec<MonitorId> },
    /// What a second location said.
    Answered { monitor: MonitorId, planned_at: Timestamp, answer: Verification },
    /// A traceroute has ended; without a file when it came to none.
    Traced { result: crate::store::ResultKey, file: Option<Capture>, messages: Vec<NewNotification> },
    /// Somebody acknowledged an outage.
    Acknowledged { monitor: MonitorId, episode: EpisodeId },
}

/// How monitors are, for those who show it. Those that are not in it were not heard of yet.
pub(super) type Healths = Arc<RwLock<HashMap<MonitorId, Health>>>;

/// Watches every monitor. It belongs to the loop that takes results, which alone changes it.
pub struct Lookout {
    parts: LookoutParts,
    settings: AlarmSettings,
    /// What answers come back through.
    words: tokio::sync::mpsc::WeakSender<Word>,
    watched: HashMap<MonitorId, Watched>,
    accounts: Accounts,
    places: Places,
    away: Away,
    timers: Timers,
    asks: Asks,
    traces: Traces,
    healths: Healths,
    /// What was kept, until the monitors are there.
    start: Option<Start>,
}

impl Lookout {
    /// Reads what was kept; nothing is watched yet.
    ///
    /// # Errors
    /// As the store's.
    pub(super) async fn load(
        parts: LookoutParts,
        settings: AlarmSettings,
        words: tokio::sync::mpsc::WeakSender<Word>,
        healths: Healths,
    ) -> Result<Self, crate::store::StoreError> {
        let start = Start::read(&parts).await?;
        let mut places = Places::new(Arc::clone(&parts.planner));
        places.look(parts.clock.now());
        Ok(Self {
            accounts: Accounts::new(Arc::clone(&parts.directory)),
            places,
            away: Away::default(),
            timers: Timers::default(),
            asks: Asks::default(),
            traces: Traces::default(),
            watched: HashMap::new(),
            start: Some(start),
            parts,
            settings,
            words,
            healths,
        })
    }

    /// Waits until time has something to do: at most a second, so that a clock that was set is seen.
    pub(super) async fn wait(&self) {
        let longest = Duration::from_secs(1);
        let now = self.parts.clock.now();
        let pause = self.timers.next().map_or(longest, |due| due.since(now).min(longest));
        self.parts.clock.sleep(pause).await;
    }

    /// Notes how `monitor` is, when that changed.
    fn note_health(&mut self, monitor: MonitorId) {
        let Some(watched) = self.watched.get_mut(&monitor) else { return };
        let health = watched.watch.health();
        if watched.health != Some(health) {
            watched.health = Some(health);
            self.healths.write().insert(monitor, health);
        }
    }
}

/// The result of a check of `monitor`.
fn key_of(monitor: MonitorId, planned_at: Timestamp, location: LocationId) -> crate::store::ResultKey {
    let run = crate::domain::RunId::of(monitor, planned_at);
    crate::store::ResultKey {
        check_id: CheckId::of(run, location),
        monitor_id: monitor,
        location_id: location,
        planned_at,
    }
}
