//! The alert engine: the watches of all monitors, and how they are loaded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::account_snapshots::AccountSnapshots;
use super::command::{HealthMap, IngestCommand};
use super::locations::Locations;
use super::monitor_entry::MonitorEntry;
use super::offline_locations::OfflineLocations;
use super::restored_state::RestoredState;
use super::settings::{AlertEngineDependencies, AlertEngineSettings};
use super::timer_heap::TimerHeap;
use super::traceroutes::TracerouteRunner;
use super::verifications::VerificationRunner;
use crate::domain::MonitorId;
use crate::store::StoreError;

/// Watches every monitor. It belongs to the loop that takes results, which alone changes it.
pub struct AlertEngine {
    pub(super) dependencies: AlertEngineDependencies,
    pub(super) settings: AlertEngineSettings,
    /// What answers come back through.
    pub(super) commands: tokio::sync::mpsc::WeakSender<IngestCommand>,
    pub(super) monitors: HashMap<MonitorId, MonitorEntry>,
    pub(super) accounts: AccountSnapshots,
    pub(super) locations: Locations,
    pub(super) offline: OfflineLocations,
    pub(super) timers: TimerHeap,
    pub(super) verifications: VerificationRunner,
    pub(super) traceroutes: TracerouteRunner,
    pub(super) health_map: HealthMap,
    /// What was kept, until the monitors are there.
    pub(super) restored_state: Option<RestoredState>,
}

impl AlertEngine {
    /// Reads what was kept; nothing is watched yet.
    ///
    /// # Errors
    /// As the store's.
    pub(in crate::pipeline) async fn load(
        dependencies: AlertEngineDependencies,
        settings: AlertEngineSettings,
        words: tokio::sync::mpsc::WeakSender<IngestCommand>,
        healths: HealthMap,
    ) -> Result<Self, StoreError> {
        let start = RestoredState::load(&dependencies).await?;
        let mut places = Locations::new(Arc::clone(&dependencies.planner));
        places.refresh(dependencies.clock.now());
        Ok(Self {
            accounts: AccountSnapshots::new(Arc::clone(&dependencies.accounts)),
            locations: places,
            offline: OfflineLocations::default(),
            timers: TimerHeap::default(),
            verifications: VerificationRunner::default(),
            traceroutes: TracerouteRunner::default(),
            monitors: HashMap::new(),
            restored_state: Some(start),
            dependencies,
            settings,
            commands: words,
            health_map: healths,
        })
    }

    /// Waits until time has something to do: at most a second, so that a clock that was set is seen.
    pub(in crate::pipeline) async fn wait_for_timer(&self) {
        let longest = Duration::from_secs(1);
        let now = self.dependencies.clock.now();
        let pause = self.timers.next_at().map_or(longest, |due| due.since(now).min(longest));
        self.dependencies.clock.sleep(pause).await;
    }

    /// Notes how `monitor` is, when that changed.
    pub(super) fn publish_health(&mut self, monitor: MonitorId) {
        let Some(entry) = self.monitors.get_mut(&monitor) else { return };
        let health = entry.state.health();
        if entry.health != Some(health) {
            entry.health = Some(health);
            self.health_map.write().insert(monitor, health);
        }
    }
}
