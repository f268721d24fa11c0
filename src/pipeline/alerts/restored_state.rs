//! The start of a process: what was remembered of monitors comes back with them.

use std::collections::HashMap;

use super::monitor_entry::MonitorEntry;
use super::settings::AlertEngineDependencies;
use crate::alerting::{AlertState, LocationResult};
use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::store::{EpisodeFilter, MonitorState, Pagination, StoreError, StoredEpisode};

/// What was kept, until its monitors come.
pub(super) struct RestoredState {
    alert_states: HashMap<MonitorId, AlertState>,
    states: HashMap<MonitorId, Vec<MonitorState>>,
    /// Outages that are open in the store.
    open_episodes: HashMap<MonitorId, Vec<StoredEpisode>>,
}

impl RestoredState {
    pub(super) async fn load(dependencies: &AlertEngineDependencies) -> Result<Self, StoreError> {
        let mut watches = HashMap::new();
        for (monitor, body) in dependencies.alert_store.alert_states().await? {
            // Begun anew, it would forget an open outage and who waits for its end.
            let watch = serde_json::from_str(&body).map_err(|error| StoreError::Undecodable {
                table: "watches",
                row: format!("monitor_id {monitor}"),
                column: "body",
                reason: error.to_string(),
            })?;
            watches.insert(monitor, watch);
        }
        let mut states: HashMap<MonitorId, Vec<MonitorState>> = HashMap::new();
        for state in dependencies.results.states().await? {
            states.entry(state.monitor_id).or_default().push(state);
        }
        let filter = EpisodeFilter { open: Some(true), ..EpisodeFilter::default() };
        let mut open: HashMap<MonitorId, Vec<StoredEpisode>> = HashMap::new();
        let kept =
            dependencies.alert_store.episodes(filter, Pagination { limit: u32::MAX, offset: 0 }).await?;
        let left_out = kept.total.saturating_sub(kept.items.len() as u64);
        if left_out > 0 {
            return Err(StoreError::Undecodable {
                table: "episodes",
                row: format!("{left_out} of those that are open"),
                column: "body",
                reason: "the errors before this one in the log name them".to_owned(),
            });
        }
        for episode in kept.items {
            open.entry(episode.monitor_id).or_default().push(episode);
        }
        Ok(Self { alert_states: watches, states, open_episodes: open })
    }

    /// `monitor` with what is remembered of it, and outages that this knows nothing of and that are over therefore.
    pub(super) fn restore_monitor(&mut self, monitor: Monitor) -> (MonitorEntry, Vec<StoredEpisode>) {
        let (id, mut entry) = (monitor.id, MonitorEntry::new(monitor));
        let states = self.states.remove(&id).unwrap_or_default();
        match self.alert_states.remove(&id) {
            Some(watch) => (entry.state, entry.has_stored_state) = (watch, true),
            None if states.is_empty() => {}
            None => entry.state.restore(&states.iter().map(location_result_from_state).collect::<Vec<_>>()),
        }
        let mut over = self.open_episodes.remove(&id).unwrap_or_default();
        over.retain(|episode| {
            Some(episode.id) != entry.state.open_episode() || {
                if episode.acknowledged_at.is_some() {
                    entry.state.acknowledge(episode.id);
                }
                false
            }
        });
        (entry, over)
    }

    /// What is left when all monitors came: theirs are gone.
    pub(super) fn into_leftovers(self) -> (Vec<MonitorId>, Vec<StoredEpisode>) {
        (self.alert_states.into_keys().collect(), self.open_episodes.into_values().flatten().collect())
    }
}

fn location_result_from_state(state: &MonitorState) -> LocationResult {
    LocationResult {
        planned_at: state.planned_at,
        location: state.location_id,
        check_id: state.check_id,
        outcome: state.outcome,
        status: state.status,
        slots: 1,
        last_planned_at: state.planned_at,
        step: None,
        failed_views: Vec::new(),
        page: None,
        certificate: None,
    }
}
