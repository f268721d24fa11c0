//! The alert engine: the watches of all monitors, and how they are loaded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::accounts::Accounts;
use super::away::Away;
use super::input::{Healths, Word};
use super::places::Places;
use super::settings::{AlarmSettings, LookoutParts};
use super::start::Start;
use super::timers::Timers;
use super::trace::Traces;
use super::verify::Asks;
use super::watched::Watched;
use crate::domain::MonitorId;
use crate::store::StoreError;

/// Watches every monitor. It belongs to the loop that takes results, which alone changes it.
pub struct Lookout {
    pub(super) parts: LookoutParts,
    pub(super) settings: AlarmSettings,
    /// What answers come back through.
    pub(super) words: tokio::sync::mpsc::WeakSender<Word>,
    pub(super) watched: HashMap<MonitorId, Watched>,
    pub(super) accounts: Accounts,
    pub(super) places: Places,
    pub(super) away: Away,
    pub(super) timers: Timers,
    pub(super) asks: Asks,
    pub(super) traces: Traces,
    pub(super) healths: Healths,
    /// What was kept, until the monitors are there.
    pub(super) start: Option<Start>,
}

impl Lookout {
    /// Reads what was kept; nothing is watched yet.
    ///
    /// # Errors
    /// As the store's.
    pub(in crate::pipeline) async fn load(
        parts: LookoutParts,
        settings: AlarmSettings,
        words: tokio::sync::mpsc::WeakSender<Word>,
        healths: Healths,
    ) -> Result<Self, StoreError> {
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
    pub(in crate::pipeline) async fn wait(&self) {
        let longest = Duration::from_secs(1);
        let now = self.parts.clock.now();
        let pause = self.timers.next().map_or(longest, |due| due.since(now).min(longest));
        self.parts.clock.sleep(pause).await;
    }

    /// Notes how `monitor` is, when that changed.
    pub(super) fn note_health(&mut self, monitor: MonitorId) {
        let Some(watched) = self.watched.get_mut(&monitor) else { return };
        let health = watched.watch.health();
        if watched.health != Some(health) {
            watched.health = Some(health);
            self.healths.write().insert(monitor, health);
        }
    }
}
