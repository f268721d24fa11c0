//! Locations without a live agent: an event in each account that misses runs there, once when that begins and once
//! when it is over (behaviour.md 5).

use std::collections::HashSet;

use serde_json::json;

use crate::catalog::json_object::into_object;
use crate::domain::{CustomerId, LocationId, RecordKind, Timestamp};
use crate::store::NewRecord;

/// Who was told that a location is away.
#[derive(Default)]
pub(super) struct OfflineLocations(HashSet<(CustomerId, LocationId)>);

impl OfflineLocations {
    /// Whether `customer` was not told yet that `location` is away.
    pub(super) fn mark_offline(&mut self, customer: CustomerId, location: LocationId) -> bool {
        self.0.insert((customer, location))
    }

    /// Takes those whose location is not among `away` any more.
    pub(super) fn take_recovered(&mut self, away: &[LocationId]) -> Vec<(CustomerId, LocationId)> {
        self.0.extract_if(|(_, location)| !away.contains(location)).collect()
    }
}

/// The event that says so.
pub(super) fn location_event(
    customer: CustomerId,
    name: &str,
    location: LocationId,
    away: bool,
    at: Timestamp,
) -> NewRecord {
    let (event, what) = if away {
        ("location_away", "has no live agent; runs there are recorded as missed")
    } else {
        ("location_back", "has a live agent again")
    };
    let fields = json!({
        "event": event,
        "description": format!("The location `{name}` ({location}) {what}"),
        "value": "",
        "quantity": 1,
    });
    NewRecord {
        kind: RecordKind::Event,
        customer: Some(customer),
        parent_id: None,
        unique_key: None,
        created_at: at,
        created_by: "vigie".to_owned(),
        fields: into_object(fields),
        sealed: None,
    }
}
