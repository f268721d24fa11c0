//! Makes the values of monitors out of rows of a board.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::AccountSnapshot;
use crate::catalog::monitor_description::custom_properties;
use crate::domain::{CustomerId, Location, LocationId};
use crate::export::{LocationSample, MonitorSample, push_label};
use crate::service::status_row::{MonitorStatus, StatusRow};

/// The label of a custom property, and its name.
pub(super) type PropertyLabel = (String, String);

/// Returns why a monitor has no values now; `None` for one that has.
pub(super) const fn idle_reason(status: MonitorStatus) -> Option<&'static str> {
    match status {
        MonitorStatus::LastOutcome(_) => None,
        MonitorStatus::NoResultYet | MonitorStatus::Paused | MonitorStatus::Disabled => Some(status.as_str()),
    }
}

/// Returns the values of the monitor of `row` at `locations`, without what is known elsewhere.
pub(super) fn monitor_sample(
    row: &StatusRow,
    locations: Vec<LocationSample>,
    properties: &[PropertyLabel],
    accounts: &HashMap<CustomerId, Arc<AccountSnapshot>>,
) -> MonitorSample {
    let monitor = &row.monitor;
    let mut labels = String::with_capacity(128);
    push_label(&mut labels, "monitor", &monitor.id.to_string());
    push_label(&mut labels, "key", monitor.origin.key().unwrap_or_default());
    push_label(&mut labels, "name", monitor.name());
    push_label(&mut labels, "type", monitor.monitor_type().name());
    if let Some(account) = accounts.get(&monitor.customer) {
        let values = custom_properties(monitor, account);
        for (label, name) in properties {
            if let Some((_, value)) = values.iter().find(|(property, _)| property == name) {
                push_label(&mut labels, label, value);
            }
        }
    }
    MonitorSample {
        labels: labels.into(),
        idle_reason: idle_reason(row.status),
        has_open_outage: None,
        budgets: Box::default(),
        locations: locations.into(),
    }
}

/// Returns the name of each location, with its id where another one has the same name.
pub(super) fn location_names(locations: &[Location]) -> HashMap<LocationId, String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for location in locations {
        *counts.entry(&location.name).or_default() += 1;
    }
    let label = |location: &Location| match counts.get(&*location.name) {
        Some(1) if !location.name.is_empty() => location.name.clone(),
        _ => format!("{} ({})", location.name, location.id).trim_start().to_owned(),
    };
    locations.iter().map(|location| (location.id, label(location))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_locations_have_the_same_name() {
        let location =
            |id, name: &str| Location { id: LocationId(id), name: name.to_owned(), region_code: 0 };
        let names = location_names(&[
            location(1, "Paris"),
            location(2, "Oslo"),
            location(3, "Paris"),
            location(4, ""),
        ]);
        let names: Vec<_> = [1, 2, 3, 4].map(|id| names[&LocationId(id)].as_str()).into();
        assert_eq!(names, ["Paris (1)", "Oslo", "Paris (3)", "(4)"]);
    }
}
