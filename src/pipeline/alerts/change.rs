//! Monitors come, change, rest and go.

use super::engine::Lookout;
use super::records;
use super::turn::Turn;
use super::watched::{Happening, Watched};
use crate::alerting::Effect;
use crate::domain::MonitorId;
use crate::schema::Monitor;

impl Lookout {
    /// Takes new versions and lets others go. An outage of a monitor that is disabled, rests or is removed ends
    /// without a clear (behaviour.md 6).
    pub(super) async fn change(&mut self, puts: Vec<Monitor>, removed: Vec<MonitorId>, turn: &mut Turn) {
        for id in removed {
            self.remove(id, turn);
        }
        for monitor in puts {
            self.accounts.learn(monitor.customer).await;
            self.put(monitor, turn);
        }
        // The first change has all monitors: what is left of the start belongs to none.
        if let Some(start) = self.start.take() {
            let (monitors, episodes) = start.rest();
            turn.alarm.alert_states.extend(monitors.into_iter().map(|monitor| (monitor, None)));
            let now = turn.now;
            turn.alarm.episodes.extend(episodes.into_iter().map(|kept| records::ended(kept, now)));
        }
    }

    fn put(&mut self, monitor: Monitor, turn: &mut Turn) {
        let (id, active) = (monitor.id, monitor.is_planned(turn.now));
        if !self.watched.contains_key(&id) {
            let started = self.start.as_mut().map(|start| start.take(monitor.clone()));
            let (watched, over) = started.unwrap_or_else(|| (Watched::new(monitor.clone()), Vec::new()));
            turn.alarm.episodes.extend(over.into_iter().map(|kept| records::ended(kept, turn.now)));
            self.watched.insert(id, watched);
        }
        let Some(watched) = self.watched.get_mut(&id) else { return };
        let was_active = std::mem::replace(&mut watched.active, active);
        (watched.monitor, watched.rules) = (monitor, None);
        if active && !was_active {
            let questions = watched.watch.pending_verifications();
            turn.effects.extend(questions.into_iter().map(|question| (id, question)));
            // So that it notices when its next run does not come.
            self.happen(id, Happening::Tick, turn);
        } else if !active && (was_active || watched.kept) {
            let effects = watched.watch.close(turn.now);
            watched.pages.clear();
            watched.objects.clear();
            self.settle(id, effects, turn);
        }
        if !active && let Some(watched) = self.watched.get_mut(&id) {
            watched.health = None;
            self.healths.write().remove(&id);
        }
    }

    fn remove(&mut self, id: MonitorId, turn: &mut Turn) {
        let Some(mut watched) = self.watched.remove(&id) else { return };
        for effect in watched.watch.close(turn.now) {
            if let Effect::UpdateEpisode(change) = effect {
                turn.alarm.episodes.push(records::episode(&watched.monitor, &change));
            }
        }
        if watched.kept {
            turn.alarm.alert_states.push((id, None));
        }
        self.healths.write().remove(&id);
    }
}
