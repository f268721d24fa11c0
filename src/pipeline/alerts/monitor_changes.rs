//! Added, changed, deactivated and removed monitors.

use super::batch::BatchContext;
use super::engine::AlertEngine;
use super::store_records;
use super::tracked_monitor::{AlertInput, TrackedMonitor};
use crate::alerting::Effect;
use crate::domain::MonitorId;
use crate::schema::Monitor;

impl AlertEngine {
    /// Applies changed and removed monitors. The episode of a monitor that is disabled, paused or removed ends without
    /// a clear (behaviour.md 6).
    pub(super) async fn apply_monitor_changes(
        &mut self,
        upserts: Vec<Monitor>,
        removed: Vec<MonitorId>,
        batch: &mut BatchContext,
    ) {
        for id in removed {
            self.remove_monitor(id, batch);
        }
        let mut changed = Vec::new();
        for monitor in upserts {
            self.monitor_in_progress = Some(monitor.id);
            if self.quarantined_monitors.get(&monitor.id) == Some(&monitor.revision) {
                continue;
            }
            self.quarantined_monitors.remove(&monitor.id);
            self.account_snapshots.ensure_loaded(monitor.customer).await;
            let monitor_id = monitor.id;
            changed.push((monitor_id, self.upsert_monitor(monitor, batch)));
        }
        // Once all of them are known, since a run that waits may depend on the others.
        for (monitor_id, was_active) in changed {
            self.start_or_close_alert_state(monitor_id, was_active, batch);
        }
        // The first change contains all monitors: restored state that is left belongs to removed ones.
        if let Some(states_to_restore) = self.states_to_restore.take() {
            let (monitors, episodes) =
                states_to_restore.into_states_of_removed_monitors(&self.quarantined_monitors);
            batch.alert_changes.alert_states.extend(monitors.into_iter().map(|monitor| (monitor, None)));
            let now = batch.now;
            batch
                .alert_changes
                .episodes
                .extend(episodes.into_iter().map(|stored| store_records::ended_episode_record(stored, now)));
        }
    }

    /// Tracks `monitor`; returns whether it was active before.
    fn upsert_monitor(&mut self, monitor: Monitor, batch: &mut BatchContext) -> bool {
        let (monitor_id, is_active) = (monitor.id, monitor.is_active(batch.now));
        if !self.monitors.contains_key(&monitor_id) {
            let restored_entry = self
                .states_to_restore
                .as_mut()
                .map(|states_to_restore| states_to_restore.restore_monitor(monitor.clone()));
            let (entry, ended_episodes) =
                restored_entry.unwrap_or_else(|| (TrackedMonitor::new(monitor.clone()), Vec::new()));
            batch.alert_changes.episodes.extend(
                ended_episodes
                    .into_iter()
                    .map(|stored| store_records::ended_episode_record(stored, batch.now)),
            );
            self.monitors.insert(monitor_id, entry);
        }
        let Some(entry) = self.monitors.get_mut(&monitor_id) else { return false };
        entry.parent_ids = monitor.document.parent_ids();
        (entry.monitor, entry.cached_rules) = (monitor, None);
        std::mem::replace(&mut entry.is_active, is_active)
    }

    /// Starts the alert state of a monitor that became active; closes that of one that is active no more.
    fn start_or_close_alert_state(
        &mut self,
        monitor_id: MonitorId,
        was_active: bool,
        batch: &mut BatchContext,
    ) {
        self.monitor_in_progress = Some(monitor_id);
        let Some(entry) = self.monitors.get_mut(&monitor_id) else { return };
        let is_active = entry.is_active;
        if is_active && !was_active {
            let requests = entry.alert_state.pending_verification_requests();
            batch.effects.extend(requests.into_iter().map(|request| (monitor_id, request)));
            // Makes the state expect its next run, so that a missing one is noticed.
            self.on_input(monitor_id, AlertInput::Tick, batch);
        } else if !is_active && (was_active || entry.has_stored_state) {
            let effects = entry.alert_state.close(batch.now);
            entry.last_pages.clear();
            entry.object_baselines.clear();
            self.queue_effects(monitor_id, effects, batch);
        }
        if !is_active && let Some(entry) = self.monitors.get_mut(&monitor_id) {
            entry.published_health = None;
            self.health_map.write().remove(&monitor_id);
        }
    }

    fn remove_monitor(&mut self, monitor_id: MonitorId, batch: &mut BatchContext) {
        let Some(mut entry) = self.monitors.remove(&monitor_id) else { return };
        for effect in entry.alert_state.close(batch.now) {
            if let Effect::UpdateEpisode(change) = effect {
                batch.alert_changes.episodes.push(store_records::episode_record(&entry.monitor, &change));
            }
        }
        if entry.has_stored_state {
            batch.alert_changes.alert_states.push((monitor_id, None));
        }
        self.health_map.write().remove(&monitor_id);
    }
}
