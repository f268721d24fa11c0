//! Added, changed, deactivated and removed monitors.

use super::batch::BatchContext;
use super::engine::AlertEngine;
use super::monitor_entry::{AlertInput, MonitorEntry};
use super::stored_forms;
use crate::alerting::Effect;
use crate::domain::MonitorId;
use crate::schema::Monitor;

impl AlertEngine {
    /// Applies changed and removed monitors. The episode of a monitor that is disabled, paused or removed ends without
    /// a clear (behaviour.md 6).
    pub(super) async fn apply_changes(
        &mut self,
        upserts: Vec<Monitor>,
        removed: Vec<MonitorId>,
        batch: &mut BatchContext,
    ) {
        for id in removed {
            self.remove(id, batch);
        }
        for monitor in upserts {
            self.accounts.ensure_loaded(monitor.customer).await;
            self.upsert(monitor, batch);
        }
        // The first change contains all monitors: restored state that is left belongs to removed ones.
        if let Some(restored_state) = self.restored_state.take() {
            let (monitors, episodes) = restored_state.into_leftovers();
            batch.changes.alert_states.extend(monitors.into_iter().map(|monitor| (monitor, None)));
            let now = batch.now;
            batch
                .changes
                .episodes
                .extend(episodes.into_iter().map(|stored| stored_forms::end_episode_record(stored, now)));
        }
    }

    fn upsert(&mut self, monitor: Monitor, batch: &mut BatchContext) {
        let (id, active) = (monitor.id, monitor.is_active(batch.now));
        if !self.monitors.contains_key(&id) {
            let started = self
                .restored_state
                .as_mut()
                .map(|restored_state| restored_state.restore_monitor(monitor.clone()));
            let (entry, ended) = started.unwrap_or_else(|| (MonitorEntry::new(monitor.clone()), Vec::new()));
            batch
                .changes
                .episodes
                .extend(ended.into_iter().map(|stored| stored_forms::end_episode_record(stored, batch.now)));
            self.monitors.insert(id, entry);
        }
        let Some(entry) = self.monitors.get_mut(&id) else { return };
        let was_active = std::mem::replace(&mut entry.active, active);
        (entry.monitor, entry.rules) = (monitor, None);
        if active && !was_active {
            let requests = entry.state.pending_verifications();
            batch.effects.extend(requests.into_iter().map(|request| (id, request)));
            // Makes the state expect its next run, so that a missing one is noticed.
            self.on_input(id, AlertInput::Tick, batch);
        } else if !active && (was_active || entry.has_stored_state) {
            let effects = entry.state.close(batch.now);
            entry.pages.clear();
            entry.objects.clear();
            self.queue_effects(id, effects, batch);
        }
        if !active && let Some(entry) = self.monitors.get_mut(&id) {
            entry.health = None;
            self.health_map.write().remove(&id);
        }
    }

    fn remove(&mut self, id: MonitorId, batch: &mut BatchContext) {
        let Some(mut entry) = self.monitors.remove(&id) else { return };
        for effect in entry.state.close(batch.now) {
            if let Effect::UpdateEpisode(change) = effect {
                batch.changes.episodes.push(stored_forms::episode_record(&entry.monitor, &change));
            }
        }
        if entry.has_stored_state {
            batch.changes.alert_states.push((id, None));
        }
        self.health_map.write().remove(&id);
    }
}
