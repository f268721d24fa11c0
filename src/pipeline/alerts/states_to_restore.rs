//! Restores the alert states of monitors when the process starts.

use std::collections::HashMap;

use super::settings::AlertEngineDependencies;
use super::tracked_monitor::TrackedMonitor;
use crate::alerting::{AlertState, LocationResult};
use crate::domain::{MonitorId, Revision};
use crate::schema::Monitor;
use crate::store::{EpisodeFilter, MonitorLocationState, Pagination, StoreError, StoredEpisode, StoredJson};

/// State loaded from the store, from which each monitor takes its own when it is first known.
pub(super) struct StatesToRestore {
    /// The stored alert states.
    alert_states: HashMap<MonitorId, AlertState>,
    location_states: HashMap<MonitorId, Vec<MonitorLocationState>>,
    /// Episodes that are open in the store.
    open_episodes: HashMap<MonitorId, Vec<StoredEpisode>>,
}

impl StatesToRestore {
    pub(super) async fn load(dependencies: &AlertEngineDependencies) -> Result<Self, StoreError> {
        let alert_store = &dependencies.alert_store;
        let mut alert_states = HashMap::new();
        for (monitor_id, body) in alert_store.alert_states().await? {
            // A new state would lose an open episode and the recipients that wait for its clear.
            let alert_state = serde_json::from_str(&body).map_err(|error| {
                let row = format!("monitor_id {monitor_id}");
                alert_store.undecodable_json_error(StoredJson::AlertState, row, error.to_string())
            })?;
            alert_states.insert(monitor_id, alert_state);
        }
        let mut location_states: HashMap<MonitorId, Vec<MonitorLocationState>> = HashMap::new();
        for state in dependencies.result_store.location_states().await? {
            location_states.entry(state.monitor_id).or_default().push(state);
        }
        let filter = EpisodeFilter { is_open: Some(true), ..EpisodeFilter::default() };
        let mut open_episodes: HashMap<MonitorId, Vec<StoredEpisode>> = HashMap::new();
        let page = alert_store.episodes(filter, Pagination::ALL).await?;
        let unreadable_count = page.total.saturating_sub(page.items.len() as u64);
        if unreadable_count > 0 {
            let row = format!("{unreadable_count} of the open ones");
            let reason = "see the preceding errors in the log".to_owned();
            return Err(alert_store.undecodable_json_error(StoredJson::EpisodeSnapshot, row, reason));
        }
        for episode in page.items {
            open_episodes.entry(episode.monitor_id).or_default().push(episode);
        }
        Ok(Self { alert_states, location_states, open_episodes })
    }

    /// Returns the entry of `monitor` with its restored state, and the stored episodes that have ended, since the state
    /// does not know them.
    pub(super) fn restore_monitor(&mut self, monitor: Monitor) -> (TrackedMonitor, Vec<StoredEpisode>) {
        let (id, mut entry) = (monitor.id, TrackedMonitor::new(monitor));
        let states = self.location_states.remove(&id).unwrap_or_default();
        match self.alert_states.remove(&id) {
            Some(alert_state) => (entry.alert_state, entry.has_stored_state) = (alert_state, true),
            None => restore_from_states(&mut entry.alert_state, &states),
        }
        for state in states.iter().filter(|state| state.last_was_first_check()) {
            entry.alert_state.on_first_check(state.planned_at, state.outcome);
        }
        let mut ended_episodes = self.open_episodes.remove(&id).unwrap_or_default();
        ended_episodes.retain(|episode| {
            Some(episode.id) != entry.alert_state.open_episode_id() || {
                if episode.acknowledged_at.is_some() {
                    entry.alert_state.acknowledge_episode(episode.id);
                }
                false
            }
        });
        (entry, ended_episodes)
    }

    /// Returns what is left once all monitors are known: data of monitors that no longer exist, without those of
    /// `quarantined_monitors`.
    pub(super) fn into_states_of_removed_monitors(
        mut self,
        quarantined_monitors: &HashMap<MonitorId, Revision>,
    ) -> (Vec<MonitorId>, Vec<StoredEpisode>) {
        self.alert_states.retain(|monitor_id, _| !quarantined_monitors.contains_key(monitor_id));
        self.open_episodes.retain(|monitor_id, _| !quarantined_monitors.contains_key(monitor_id));
        (self.alert_states.into_keys().collect(), self.open_episodes.into_values().flatten().collect())
    }
}

/// Derives the alert state from the last planned run at each location. Those before a first check are resolved.
fn restore_from_states(alert_state: &mut AlertState, states: &[MonitorLocationState]) {
    let (first_checks, planned): (Vec<_>, Vec<_>) =
        states.iter().partition(|state| state.last_was_first_check());
    let results: Vec<_> = planned.into_iter().map(location_result_from_state).collect();
    alert_state.restore_from_results(&results);
    if let Some(slot_at) = first_checks.iter().filter_map(|state| state.last_slot_at).max() {
        alert_state.assume_resolved_until(slot_at);
    }
}

fn location_result_from_state(state: &MonitorLocationState) -> LocationResult {
    LocationResult {
        planned_at: state.planned_at,
        location_id: state.location_id,
        check_id: state.check_id,
        outcome: state.outcome,
        status: state.status,
        run_count: 1,
        last_planned_at: state.planned_at,
        failing_step: None,
        failed_views: Vec::new(),
        page_change: None,
        expiring_certificate: None,
    }
}
