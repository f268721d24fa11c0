//! Monitors come, change, rest and go.

use super::batch::BatchContext;
use super::engine::AlertEngine;
use super::monitor_entry::{AlertInput, MonitorEntry};
use super::stored_forms;
use crate::alerting::Effect;
use crate::domain::MonitorId;
use crate::schema::Monitor;

impl AlertEngine {
    /// Takes new versions and lets others go. An outage of a monitor that is disabled, rests or is removed ends
    /// without a clear (behaviour.md 6).
    pub(super) async fn apply_changes(
        &mut self,
        puts: Vec<Monitor>,
        removed: Vec<MonitorId>,
        turn: &mut BatchContext,
    ) {
        for id in removed {
            self.remove(id, turn);
        }
        for monitor in puts {
            self.accounts.ensure_loaded(monitor.customer).await;
            self.upsert(monitor, turn);
        }
        // The first change has all monitors: what is left of the start belongs to none.
        if let Some(start) = self.restored_state.take() {
            let (monitors, episodes) = start.into_leftovers();
            turn.alarm.alert_states.extend(monitors.into_iter().map(|monitor| (monitor, None)));
            let now = turn.now;
            turn.alarm
                .episodes
                .extend(episodes.into_iter().map(|kept| stored_forms::end_episode_record(kept, now)));
        }
    }

    fn upsert(&mut self, monitor: Monitor, turn: &mut BatchContext) {
        let (id, active) = (monitor.id, monitor.is_planned(turn.now));
        if !self.monitors.contains_key(&id) {
            let started = self.restored_state.as_mut().map(|start| start.restore_monitor(monitor.clone()));
            let (watched, over) = started.unwrap_or_else(|| (MonitorEntry::new(monitor.clone()), Vec::new()));
            turn.alarm
                .episodes
                .extend(over.into_iter().map(|kept| stored_forms::end_episode_record(kept, turn.now)));
            self.monitors.insert(id, watched);
        }
        let Some(watched) = self.monitors.get_mut(&id) else { return };
        let was_active = std::mem::replace(&mut watched.active, active);
        (watched.monitor, watched.rules) = (monitor, None);
        if active && !was_active {
            let questions = watched.state.pending_verifications();
            turn.effects.extend(questions.into_iter().map(|question| (id, question)));
            // So that it notices when its next run does not come.
            self.on_input(id, AlertInput::Tick, turn);
        } else if !active && (was_active || watched.has_stored_state) {
            let effects = watched.state.close(turn.now);
            watched.pages.clear();
            watched.objects.clear();
            self.queue_effects(id, effects, turn);
        }
        if !active && let Some(watched) = self.monitors.get_mut(&id) {
            watched.health = None;
            self.health_map.write().remove(&id);
        }
    }

    fn remove(&mut self, id: MonitorId, turn: &mut BatchContext) {
        let Some(mut watched) = self.monitors.remove(&id) else { return };
        for effect in watched.state.close(turn.now) {
            if let Effect::UpdateEpisode(change) = effect {
                turn.alarm.episodes.push(stored_forms::episode_record(&watched.monitor, &change));
            }
        }
        if watched.has_stored_state {
            turn.alarm.alert_states.push((id, None));
        }
        self.health_map.write().remove(&id);
    }
}
