//! Which slots were recorded before the process started.

use std::collections::HashMap;

use crate::domain::{LocationId, MonitorId, Timestamp};
use crate::schema::Monitor;
use crate::store::MonitorLocationState;

/// Returns until when the slots of each enabled monitor are recorded at `location`: until its newest planned run
/// there. A monitor without one at any location counts from its last change. One with results only at other locations
/// is left out: it starts here now. Slots before the last change are not missed, since the monitor may have been
/// disabled or absent, nor are slots during a pause.
pub(super) fn recorded_until(
    monitors: &[Monitor],
    states: &[MonitorLocationState],
    location: LocationId,
) -> HashMap<MonitorId, Timestamp> {
    let enabled_monitors: HashMap<_, _> =
        monitors.iter().filter(|monitor| monitor.enabled()).map(|monitor| (monitor.id, monitor)).collect();
    let mut recorded: HashMap<_, _> =
        enabled_monitors.values().map(|monitor| (monitor.id, monitor.modified_at)).collect();
    // A first check covers no slot.
    let last_slots = states.iter().filter_map(|state| Some((state, state.last_slot_at?)));
    for (state, _) in last_slots.clone() {
        recorded.remove(&state.monitor_id);
    }
    for (state, last_slot_at) in last_slots.filter(|(state, _)| state.location_id == location) {
        if let Some(monitor) = enabled_monitors.get(&state.monitor_id) {
            let earliest = monitor.modified_at - monitor.interval();
            recorded.insert(monitor.id, last_slot_at.max(earliest));
        }
    }
    for (id, monitor_recorded_until) in &mut recorded {
        let paused_until = enabled_monitors.get(id).and_then(|monitor| monitor.metadata.paused_until);
        *monitor_recorded_until =
            paused_until.map_or(*monitor_recorded_until, |until| until.max(*monitor_recorded_until));
    }
    recorded
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::domain::{CheckId, CustomerId, MonitorType, Outcome, Revision, Status};
    use crate::schema::{MonitorDocument, Origin};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600 + 60 * minute)
    }

    fn monitor(id: i64, enabled: bool, modified_at: Timestamp) -> Monitor {
        let values = json!({"hostname": "127.0.0.1", "port": 9, "interval": 5, "enabled": enabled});
        let Value::Object(values) = values else { unreachable!() };
        Monitor {
            id: MonitorId(id),
            customer: CustomerId(1),
            origin: Origin::Api,
            revision: Revision(2),
            modified_at,
            document: Arc::new(MonitorDocument::new(MonitorType::Tcp, values).unwrap()),
            metadata: Arc::default(),
        }
    }

    fn state(id: i64, location: i64) -> MonitorLocationState {
        MonitorLocationState {
            monitor_id: MonitorId(id),
            location_id: LocationId(location),
            check_id: CheckId(0),
            planned_at: at(100),
            outcome: Outcome::Ok,
            status: Status::OK,
            duration_us: 1,
            streak_started_at: at(100),
            streak: 1,
            last_slot_at: Some(at(100)),
            last_full_page_at: None,
        }
    }

    #[test]
    fn a_monitor_enabled_again_did_not_miss_the_time_it_was_disabled() {
        let stored = [
            monitor(1, true, at(7)),
            monitor(2, true, at(5000)),
            monitor(3, false, at(7)),
            monitor(4, true, at(7)),
        ];
        let states = [state(1, 1), state(2, 1), state(3, 1), state(4, 2), state(5, 1)];
        let recorded = recorded_until(&stored, &states, LocationId(1));
        let expected = [(MonitorId(1), at(100)), (MonitorId(2), at(5000) - Duration::from_mins(5))];
        assert_eq!(recorded, HashMap::from(expected));
    }

    #[test]
    fn slots_during_a_pause_are_not_missed_over_a_restart() {
        let paused = |id: i64, until: Timestamp| {
            let metadata = crate::schema::MonitorMetadata {
                paused_until: Some(until),
                ..crate::schema::MonitorMetadata::default()
            };
            Monitor { metadata: Arc::new(metadata), ..monitor(id, true, at(7)) }
        };
        let stored = [paused(1, at(200)), paused(2, at(50)), paused(3, at(60))];
        let recorded = recorded_until(&stored, &[state(1, 1), state(2, 1)], LocationId(1));
        let expected = [(MonitorId(1), at(200)), (MonitorId(2), at(100)), (MonitorId(3), at(60))];
        assert_eq!(recorded, HashMap::from(expected));
    }

    #[test]
    fn a_first_check_covers_no_slot() {
        let stored = [monitor(1, true, at(7)), monitor(2, true, at(7))];
        let first_check = |id, last_slot_at| MonitorLocationState { last_slot_at, ..state(id, 1) };
        let states = [first_check(1, None), first_check(2, Some(at(90)))];
        assert!(states.iter().all(MonitorLocationState::last_was_first_check));
        let last = recorded_until(&stored, &states, LocationId(1));
        assert_eq!(last, HashMap::from([(MonitorId(1), at(7)), (MonitorId(2), at(90))]));
    }

    #[test]
    fn slots_before_the_first_result_of_a_monitor_are_missed_over_a_restart() {
        let stored = [monitor(1, true, at(7)), monitor(2, true, at(7)), monitor(3, false, at(7))];
        let states = [state(2, 1), state(2, 9)];
        let recorded = recorded_until(&stored, &states, LocationId(1));
        assert_eq!(recorded, HashMap::from([(MonitorId(1), at(7)), (MonitorId(2), at(100))]));
    }
}
