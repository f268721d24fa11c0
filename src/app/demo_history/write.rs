//! Writes the made-up history into the store, the newest day first.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::profiles::{AGREEMENTS, EVENTS, PROFILES, Profile};
use super::results::{ResultWriter, STEP_MINUTES};
use crate::catalog::MonitorCache;
use crate::domain::{ConfigRecordKind, CustomerId, LocationId, MonitorId, Timestamp};
use crate::pipeline::episode_record;
use crate::schema::Monitor;
use crate::service::{AccountService, ConfigRecordService, EntryPoint, ServiceError};
use crate::store::{AlertChanges, ConfigChange, IngestBatch, NewConfigRecord, Store};
use crate::syntax::json_object::into_object;
use crate::syntax::node::Node;

/// Days of history.
const DAYS: i64 = 30;
/// Minutes of a day.
const DAY_MINUTES: i64 = 24 * 60;
/// The user who did what is made up.
const LOGIN: &str = "demo";

/// Writes the history of the monitors of the demo up to `now`, from `location`, unless `stop` comes first.
pub(in crate::app) async fn write_demo_history(
    store: Arc<dyn Store>,
    records: Arc<ConfigRecordService>,
    monitor_cache: Arc<MonitorCache>,
    location: LocationId,
    now: Timestamp,
    stop: CancellationToken,
) {
    // The first real runs follow at once.
    let minute = now.as_micros() - now.as_micros().rem_euclid(60_000_000);
    let end = Timestamp::from_micros(minute);
    let monitors =
        monitor_cache.list_from(MonitorId(0), usize::MAX, |monitor| monitor.origin.key().is_some());
    let of_key = |key: &str| monitors.iter().find(|monitor| monitor.origin.key() == Some(key));
    let with_history: Vec<(&Monitor, &Profile)> =
        PROFILES.iter().filter_map(|profile| Some((of_key(profile.key)?, profile))).collect();
    for day in 0..DAYS {
        for (monitor, profile) in &with_history {
            if stop.is_cancelled() {
                return;
            }
            let writer = ResultWriter { monitor, profile, location, end };
            let batch = day_of(&writer, day);
            if let Err(error) = store.commit(batch).await {
                tracing::warn!(error = %error, "failed to write the history of the demo");
                return;
            }
        }
    }
    if let Err(error) =
        write_records(&store, &records, end, |key| of_key(key).map(|monitor| monitor.id)).await
    {
        tracing::warn!(error = ?error, "failed to write the events and agreements of the demo");
    }
}

/// Returns the results and outages of a day; 0 is the last one.
fn day_of(writer: &ResultWriter<'_>, day: i64) -> IngestBatch {
    let (newest, oldest) = (day * DAY_MINUTES, (day + 1) * DAY_MINUTES);
    let minutes = (newest..oldest).rev().filter(|minute| minute % STEP_MINUTES == 0 && *minute > 0);
    let incidents = writer.profile.incidents.iter();
    let of_day = incidents.filter(|incident| (newest..oldest).contains(&incident.minutes_ago));
    let episodes = of_day.map(|incident| episode_record(writer.monitor, &writer.outage(incident)));
    IngestBatch {
        results: minutes.filter_map(|minute| writer.result(minute)).collect(),
        location_states: Vec::new(),
        alert_changes: AlertChanges { episodes: episodes.collect(), ..AlertChanges::default() },
    }
}

/// Writes events in the past, and agreements.
async fn write_records(
    store: &Arc<dyn Store>,
    records: &ConfigRecordService,
    end: Timestamp,
    id_of: impl Fn(&str) -> Option<MonitorId>,
) -> Result<(), ServiceError> {
    let to_record = |event: &super::profiles::ReportedEvent| {
        let ago = Duration::from_secs(3600 * event.hours_ago.unsigned_abs());
        ConfigChange::CreateRecord(NewConfigRecord {
            kind: ConfigRecordKind::Event,
            customer: Some(CustomerId::OPERATOR),
            parent_id: None,
            unique_key: None,
            created_at: end - ago,
            created_by: LOGIN.to_owned(),
            fields: event_fields(event),
            private_data: None,
        })
    };
    store.write_changes(EVENTS.iter().map(to_record).collect(), Vec::new()).await?;
    let caller = AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Server);
    for (key, fields) in AGREEMENTS {
        let Some(id) = id_of(key) else { continue };
        let mut body: Map<String, Value> = serde_json::from_str(fields).unwrap_or_default();
        body.insert("monitor_id".to_owned(), Value::from(id.0));
        records.create(&caller, ConfigRecordKind::Sla, &Node::from(Value::Object(body))).await?;
    }
    Ok(())
}

fn event_fields(event: &super::profiles::ReportedEvent) -> Map<String, Value> {
    let description = format!("{}, made up by the demo", event.description);
    into_object(json!({"event": event.event_type, "description": description, "quantity": 1}))
}
