//! An episode as a row.

use crate::store::contract::StoredEpisode;

/// An episode with its body as text.
pub(in crate::store) struct EpisodeRow {
    pub(in crate::store) episode: StoredEpisode,
    pub(in crate::store) snapshot_json: String,
}

impl EpisodeRow {
    pub(in crate::store) fn from_episode(mut episode: StoredEpisode) -> Self {
        let snapshot_fields = std::mem::take(&mut episode.snapshot_fields);
        Self { episode, snapshot_json: serde_json::Value::Object(snapshot_fields).to_string() }
    }
}
