//! Locations without a live agent: an event in each account that misses runs there, once when the location goes
//! offline and once when it is back (behaviour.md 5).

use std::collections::HashSet;

use serde_json::json;

use crate::domain::{CustomerId, LocationId, Timestamp};
use crate::store::NewConfigRecord;
use crate::syntax::json_object::into_object;

/// Pairs of account and offline location for which an event was recorded.
#[derive(Default)]
pub(super) struct ReportedOfflineLocations(HashSet<(CustomerId, LocationId)>);

impl ReportedOfflineLocations {
    /// Marks `location` as offline for `customer`; returns whether it was not marked before.
    pub(super) fn insert_if_new(&mut self, customer: CustomerId, location: LocationId) -> bool {
        self.0.insert((customer, location))
    }

    /// Removes and returns the pairs whose location is not in `offline` any more.
    pub(super) fn take_recovered(&mut self, offline: &[LocationId]) -> Vec<(CustomerId, LocationId)> {
        self.0.extract_if(|(_, location)| !offline.contains(location)).collect()
    }
}

/// Builds the event that a location went offline or is back.
pub(super) fn location_event(
    customer_id: CustomerId,
    location_name: &str,
    location_id: LocationId,
    is_offline: bool,
    at: Timestamp,
) -> NewConfigRecord {
    let (event_type, change_text) = if is_offline {
        ("location_away", "has no live agent; runs there are recorded as missed")
    } else {
        ("location_back", "has a live agent again")
    };
    let fields = json!({
        "event": event_type,
        "description": format!("The location `{location_name}` ({location_id}) {change_text}"),
        "value": "",
        "quantity": 1,
    });
    NewConfigRecord::own_event(customer_id, at, into_object(fields))
}
