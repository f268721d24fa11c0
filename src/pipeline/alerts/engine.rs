//! The alert engine: the alert states of all monitors, and how they are loaded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::account_snapshots::AccountSnapshots;
use super::command::{HealthMap, IngestCommand};
use super::locations::LocationStatuses;
use super::offline_locations::ReportedOfflineLocations;
use super::parent_checks::ParentChecks;
use super::settings::{AlertEngineDependencies, AlertEngineSettings};
use super::states_to_restore::StatesToRestore;
use super::timer_heap::TimerHeap;
use super::traceroutes::TracerouteRunner;
use super::tracked_monitor::TrackedMonitor;
use super::verifications::VerificationRunner;
use crate::domain::{MonitorId, Revision};
use crate::store::StoreError;

/// Tracks the alert state of every monitor. Owned by the ingest loop, which alone changes it.
pub struct AlertEngine {
    pub(super) dependencies: AlertEngineDependencies,
    pub(super) settings: AlertEngineSettings,
    /// Receives the outcomes of verifications and traceroutes.
    pub(super) command_sender: tokio::sync::mpsc::WeakSender<IngestCommand>,
    /// The monitors that exist, also inactive ones, without quarantined ones.
    pub(super) monitors: HashMap<MonitorId, TrackedMonitor>,
    pub(super) account_snapshots: AccountSnapshots,
    /// All locations, and which of them are offline now.
    pub(super) locations: LocationStatuses,
    /// Offline locations for which an event was recorded.
    pub(super) reported_offline_locations: ReportedOfflineLocations,
    pub(super) timers: TimerHeap,
    pub(super) verification_runner: VerificationRunner,
    pub(super) traceroute_runner: TracerouteRunner,
    pub(super) parent_checks: ParentChecks,
    /// Published health, read by others.
    pub(super) health_map: HealthMap,
    /// State loaded from the store; `None` once the first list of monitors was applied.
    pub(super) states_to_restore: Option<StatesToRestore>,
    /// The monitor that is being processed, to know where a panic was.
    pub(super) monitor_in_progress: Option<MonitorId>,
    /// Monitors at which the engine panicked twice. They raise no alerts until they are changed.
    pub(super) quarantined_monitors: HashMap<MonitorId, Revision>,
}

impl AlertEngine {
    /// Loads the stored state; no monitor is tracked yet.
    ///
    /// # Errors
    /// Fails when the store does.
    pub(in crate::pipeline) async fn load(
        dependencies: AlertEngineDependencies,
        settings: AlertEngineSettings,
        command_sender: tokio::sync::mpsc::WeakSender<IngestCommand>,
        health_map: HealthMap,
    ) -> Result<Self, StoreError> {
        let states_to_restore = StatesToRestore::load(&dependencies).await?;
        let mut locations = LocationStatuses::new(Arc::clone(&dependencies.planner));
        locations.refresh(dependencies.clock.now());
        Ok(Self {
            account_snapshots: AccountSnapshots::new(Arc::clone(&dependencies.account_cache)),
            locations,
            reported_offline_locations: ReportedOfflineLocations::default(),
            timers: TimerHeap::default(),
            verification_runner: VerificationRunner::default(),
            traceroute_runner: TracerouteRunner::default(),
            parent_checks: ParentChecks::default(),
            monitors: HashMap::new(),
            states_to_restore: Some(states_to_restore),
            monitor_in_progress: None,
            quarantined_monitors: HashMap::new(),
            dependencies,
            settings,
            command_sender,
            health_map,
        })
    }

    /// Applies reloaded settings from the next input of each monitor on.
    pub(super) fn apply_settings(&mut self, settings: AlertEngineSettings) {
        self.settings = settings;
        for entry in self.monitors.values_mut() {
            entry.clear_cached_rules();
        }
    }

    /// Waits until a timer is due, at most a second so that clock steps are noticed.
    pub(in crate::pipeline) async fn wait_for_timer(&self) {
        let max_wait = Duration::from_secs(1);
        let now = self.dependencies.clock.now();
        let wait = self.timers.next_at().map_or(max_wait, |due| due.since(now).min(max_wait));
        self.dependencies.clock.sleep(wait).await;
    }

    /// Publishes the health of `monitor_id` when it changed.
    pub(super) fn publish_health(&mut self, monitor_id: MonitorId) {
        let Some(entry) = self.monitors.get_mut(&monitor_id) else { return };
        let health = entry.alert_state.health();
        if entry.published_health != Some(health) {
            entry.published_health = Some(health);
            self.health_map.write().insert(monitor_id, health);
        }
    }
}
