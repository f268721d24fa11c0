//! Counts what happens with agents on other hosts, and records it as events of the account that owns the location.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use crate::bus::contract::{BusEvent, BusEventKind, BusEventSink};
use crate::clock::Clock;
use crate::domain::{AgentId, CustomerId, LocationId, Timestamp};
use crate::store::{ConfigChange, ConfigStore, NewConfigRecord};
use crate::sync::{Mutex, RwLock};
use crate::syntax::json_object::into_object;
use crate::telemetry::Metrics;

/// Events that wait for the store; further ones are only counted and logged.
const QUEUE_CAPACITY: usize = 256;
/// Time between two events about refused messages of the same agent: a hostile one must not fill the store.
const REFUSAL_INTERVAL: Duration = Duration::from_mins(10);

/// Counts and records events of the bus.
pub(super) struct BusEventRecorder {
    metrics: Arc<Metrics>,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<BusEvent>,
    /// The last event about a refused message of each agent.
    refused_at: Mutex<HashMap<(LocationId, AgentId), Timestamp>>,
}

/// The owners of the locations with agents on other hosts.
pub(super) type LocationOwners = Arc<RwLock<HashMap<LocationId, CustomerId>>>;

impl BusEventRecorder {
    /// Creates the recorder, and the work that stores the events, to be run.
    pub(super) fn new(
        metrics: Arc<Metrics>,
        clock: Arc<dyn Clock>,
        config_store: Arc<dyn ConfigStore>,
        owners: LocationOwners,
    ) -> (Self, impl Future<Output = ()> + Send + use<>) {
        let (sender, mut receiver) = mpsc::channel::<BusEvent>(QUEUE_CAPACITY);
        let storing_clock = Arc::clone(&clock);
        let store_events = async move {
            while let Some(event) = receiver.recv().await {
                let owner = owners.read().get(&event.location_id).copied();
                let owner = owner.unwrap_or(CustomerId::OPERATOR);
                let record = event_record(&event, owner, storing_clock.now());
                let change = ConfigChange::CreateRecord(record);
                if let Err(error) = config_store.write_changes(vec![change], Vec::new()).await {
                    tracing::warn!(error = %error, event = event.kind.name(), "an event of an agent was not stored");
                }
            }
        };
        let recorder = Self { metrics, clock, sender, refused_at: Mutex::default() };
        (recorder, store_events)
    }

    /// Whether an event is due about this: not for each refused message.
    fn is_due(&self, event: &BusEvent) -> bool {
        if !matches!(event.kind, BusEventKind::Refused(_)) {
            return true;
        }
        let now = self.clock.now();
        let mut refused_at = self.refused_at.lock();
        let last = refused_at.insert((event.location_id, event.agent_id), now);
        let is_due = last.is_none_or(|last| now.since(last) >= REFUSAL_INTERVAL);
        if let (false, Some(last)) = (is_due, last) {
            refused_at.insert((event.location_id, event.agent_id), last);
        }
        is_due
    }
}

impl BusEventSink for BusEventRecorder {
    fn record(&self, event: BusEvent) {
        self.metrics.record_bus_event(event.kind.name());
        if self.is_due(&event) && self.sender.try_send(event).is_err() {
            tracing::warn!("an event of an agent was not stored: too many wait");
        }
    }
}

/// Returns the event as a record of its account.
fn event_record(event: &BusEvent, owner: CustomerId, at: Timestamp) -> NewConfigRecord {
    let BusEvent { location_id, agent_id, kind } = event;
    let text = match kind {
        BusEventKind::Online(version) => format!("is online with version {version}"),
        BusEventKind::Offline => "is offline: no heartbeat came for 15 seconds".to_owned(),
        BusEventKind::VersionChanged { old, new } => format!("runs version {new} instead of {old}"),
        BusEventKind::SpoolDropped { results, captures } => {
            format!("dropped {results} results and {captures} captures from its spool")
        }
        BusEventKind::ClockOff(offset_us) => {
            format!("has a clock that is off by {} ms; its checks follow the server", offset_us / 1_000)
        }
        BusEventKind::Refused(reason) => format!("sent a message that was refused: {reason}"),
    };
    let fields = json!({
        "event": kind.name(),
        "description": format!("The agent {agent_id} of the location {location_id} {text}"),
        "value": "",
        "quantity": 1,
    });
    NewConfigRecord::own_event(owner, at, into_object(fields))
}
