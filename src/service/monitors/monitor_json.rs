//! Monitors as version 3 objects.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::monitor_service::MonitorService;
use crate::catalog::AccountSnapshot;
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::v3_time_format::{format_utc_time, to_local_time};
use crate::domain::{
    ConfigRecord, ConfigRecordKind, MonitorId, MonitorType, Outcome, Permission, Revision, Timestamp,
};
use crate::schema::typed::record::{BlackoutKind, BlackoutSettings};
use crate::schema::typed::time_window::parse_local_time;
use crate::schema::{Monitor, Origin, SecretMode, table};
use crate::script::ScriptOverview;
use crate::service::caller::{Caller, ServiceError};
use crate::store::{ConfigRecordFilter, MonitorLocationState, Pagination};

/// Returns the version 3 object of each of `monitors` for `caller`: every field of interface.md 2.1 and of its type, in
/// the order of the table, including computed ones (fields.md 3), with secrets masked. Fields without a value are
/// null. Reads the store once, however many monitors there are.
///
/// # Errors
/// Fails when the store does.
pub async fn monitors_to_json(
    service: &MonitorService,
    caller: &Caller,
    monitors: &[Monitor],
) -> Result<Vec<Map<String, Value>>, ServiceError> {
    if monitors.is_empty() {
        return Ok(Vec::new());
    }
    let account = service.dependencies.account_cache.account(caller.customer).await?;
    let now = service.dependencies.clock.now();
    let blackouts = records_of_monitors(service, caller, ConfigRecordKind::Blackout, monitors).await?;
    let blackout_ids = unended_blackout_ids(&blackouts, &account, now);
    let sla_ids =
        ids_by_monitor(&records_of_monitors(service, caller, ConfigRecordKind::Sla, monitors).await?);
    let performance_alert_ids = ids_by_monitor(
        &records_of_monitors(service, caller, ConfigRecordKind::PerformanceAlert, monitors).await?,
    );
    let to_object = |monitor: &Monitor| {
        let script = monitor.document.script_summary();
        let performance_alert_ids = performance_alert_ids.get(&monitor.id).map_or(&[][..], Vec::as_slice);
        let json = MonitorJson {
            monitor,
            account: &account,
            caller,
            last_script_run: last_script_run(service, monitor),
            script_summary: script,
            now,
            parent_ids: existing_parents(service, monitor),
            blackout_ids: blackout_ids.get(&monitor.id).cloned().unwrap_or_default(),
            sla_id: sla_ids.get(&monitor.id).and_then(|ids| ids.first().copied()),
            has_performance_alerts: !performance_alert_ids.is_empty(),
            has_active_performance_alert: performance_alert_ids.iter().any(|alert| {
                service.dependencies.account_cache.active_performance_alerts().is_active(*alert)
            }),
        };
        json.to_json()
    };
    Ok(monitors.iter().map(to_object).collect())
}

/// Returns the JSON object of the monitor with this id, like [`monitors_to_json`], or else of the monitor with a
/// content view of this id; the object then has that id and `is_content_view` (fields.md 3, Content View). Users
/// choose the ids of content views, so the id of an existing or deleted monitor never refers to a content view. `None`
/// if there is neither.
///
/// # Errors
/// Fails when the store does.
pub async fn monitor_or_content_view_to_json(
    service: &MonitorService,
    caller: &Caller,
    id: i64,
) -> Result<Option<(Revision, Map<String, Value>)>, ServiceError> {
    let monitor_cache = &service.dependencies.monitor_cache;
    let mut is_content_view = false;
    let mut found = monitor_cache.get_for_customer(caller.customer, MonitorId(id));
    if found.is_none()
        && service.dependencies.config_store.customer_for_monitor(MonitorId(id)).await?.is_none()
    {
        let has_content_view =
            |monitor: &Monitor| monitor.customer == caller.customer && monitor.has_content_view(id);
        found = monitor_cache
            .count_and_nth_match(0, has_content_view)
            .1
            .and_then(|first| monitor_cache.get_for_customer(caller.customer, first));
        is_content_view = found.is_some();
    }
    let Some(monitor) = found else { return Ok(None) };
    let objects = monitors_to_json(service, caller, std::slice::from_ref(&monitor)).await?;
    let object = objects.into_iter().next().map(|mut object| {
        if is_content_view {
            object.insert("id".to_owned(), json!(id));
            object.insert("is_content_view".to_owned(), json!(true));
        }
        (monitor.revision, object)
    });
    Ok(object)
}

/// Returns the records of `kind` that are attached to `monitors`.
async fn records_of_monitors(
    service: &MonitorService,
    caller: &Caller,
    kind: ConfigRecordKind,
    monitors: &[Monitor],
) -> Result<Vec<ConfigRecord>, ServiceError> {
    let filter = ConfigRecordFilter {
        parent_ids: monitors.iter().map(|monitor| monitor.id.0).collect(),
        ..ConfigRecordFilter::new(kind).for_customer(caller.customer)
    };
    Ok(service.dependencies.config_store.records(filter, Pagination::ALL).await?.items)
}

/// Returns the state of the last run of a monitor with a browser script; `None` for other types.
fn last_script_run(service: &MonitorService, monitor: &Monitor) -> Option<MonitorLocationState> {
    let lookup = service.last_run_lookup.as_ref()?;
    (monitor.monitor_type() == MonitorType::BrowserScript).then(|| lookup.last_run(monitor)).flatten()
}

/// Returns what `monitor` depends on, without monitors that were removed.
fn existing_parents(service: &MonitorService, monitor: &Monitor) -> Vec<MonitorId> {
    let mut parents = monitor.document.parent_ids();
    parents.retain(|id| service.find(monitor.customer, *id).is_some());
    parents
}

/// Returns the ids of blackouts that have not ended, by monitor.
fn unended_blackout_ids(
    records: &[ConfigRecord],
    account: &AccountSnapshot,
    now: Timestamp,
) -> HashMap<MonitorId, Vec<i64>> {
    let now = to_local_time(now, &account.time_zone);
    let mut ids_by_monitor: HashMap<MonitorId, Vec<i64>> = HashMap::new();
    for record in records {
        // The parent of a notifier blackout is a recipient, whose id may equal that of a monitor.
        let Some(blackout) = settings_or_skip::<BlackoutSettings<'_>>(record) else { continue };
        let is_for_monitor = blackout.kind != BlackoutKind::RecipientNotifications;
        let Some(monitor) = record.parent_id.filter(|_| is_for_monitor) else { continue };
        let until = blackout.thru_date.and_then(parse_local_time);
        if blackout.recurs_weekly || until.is_some_and(|until| until > now) {
            ids_by_monitor.entry(MonitorId(monitor)).or_default().push(record.id);
        }
    }
    ids_by_monitor
}

/// Returns the ids of records, by monitor.
fn ids_by_monitor(records: &[ConfigRecord]) -> HashMap<MonitorId, Vec<i64>> {
    let mut ids_by_monitor: HashMap<MonitorId, Vec<i64>> = HashMap::new();
    for record in records {
        if let Some(monitor) = record.parent_id {
            ids_by_monitor.entry(MonitorId(monitor)).or_default().push(record.id);
        }
    }
    ids_by_monitor
}

/// A monitor with the data of its JSON object.
struct MonitorJson<'a> {
    monitor: &'a Monitor,
    account: &'a AccountSnapshot,
    caller: &'a Caller,
    last_script_run: Option<MonitorLocationState>,
    /// `None` for types without a script, and for a script that cannot be parsed.
    script_summary: Option<ScriptOverview>,
    now: Timestamp,
    /// The monitors that it depends on and that still exist.
    parent_ids: Vec<MonitorId>,
    /// Ids of its blackouts that have not ended.
    blackout_ids: Vec<i64>,
    /// Id of its service level agreement.
    sla_id: Option<i64>,
    /// Whether it has performance alerts, and whether one is active.
    has_performance_alerts: bool,
    has_active_performance_alert: bool,
}

impl MonitorJson<'_> {
    fn to_json(&self) -> Map<String, Value> {
        let mut values = self.monitor.document.to_json(SecretMode::Masked);
        let mut object = Map::new();
        object.insert("id".to_owned(), json!(self.monitor.id.0));
        object.insert("type".to_owned(), json!(self.monitor.monitor_type().name()));
        for field in table::for_type(self.monitor.monitor_type()).fields() {
            if field.name == "id" {
                continue;
            }
            let stored_value = values.get_mut(field.name).map(Value::take);
            let value = self.computed_field(field.name, stored_value.as_ref()).or(stored_value);
            object.insert(field.name.to_owned(), value.unwrap_or(Value::Null));
        }
        object
    }

    /// Returns the value of a computed field; `None` when the document's own value counts.
    fn computed_field(&self, field: &str, stored_value: Option<&Value>) -> Option<Value> {
        let monitor = self.monitor;
        let metadata = &monitor.metadata;
        Some(match field {
            "customer_id" => json!(monitor.customer.0),
            "access_type" => json!(if self.may_edit() { "Edit" } else { "View" }),
            "paused_until" => json!(format_utc_time(monitor.paused_until(self.now)?)),
            "home_location" if stored_value.is_none() => {
                json!(self.account.location_pool_ids(monitor).first()?)
            }
            "locations" => self.locations(stored_value),
            "custom_properties" => self.custom_properties(stored_value),
            "ssl_cert_name" => json!(self.client_certificate()?.name),
            "ssl_cert_format" => json!(self.client_certificate()?.format),
            "depends_on" => json!(self.parent_ids),
            "blackout_ids" => json!(self.blackout_ids),
            "has_sla" => json!(self.sla_id.is_some()),
            "sla_id" => json!(self.sla_id),
            "has_performance_alerts" => json!(self.has_performance_alerts),
            "has_active_performance_alerts" => json!(self.has_active_performance_alert),
            // An object shown by the id of a view overrides this.
            "is_content_view" => json!(false),
            "has_mobile_locations" => json!(self.account.mobile_location_count(monitor) > 0),
            "mobile_location_count" => json!(self.account.mobile_location_count(monitor)),
            "browser_type" => json!(monitor.document.used_browser(self.account.shared.browsers.as_deref())),
            "hostname" if stored_value.is_none() && self.is_mobile() => {
                json!(self.account.shared.mobile_emulation.provider_host.as_ref()?)
            }
            "mobile_type" => json!(self.account.mobile_profile_name(monitor)),
            "last_modified" => json!(format_utc_time(monitor.modified_at)),
            "script_created" => json!(format_utc_time(metadata.script_created?)),
            "script_modified" => json!(format_utc_time(metadata.script_modified?)),
            "script_modified_by_user" => json!(metadata.script_modified_by),
            "transaction_steps" => json!(self.script_summary.as_ref()?.step_count),
            "transaction_events" => {
                json!(self.script_summary.as_ref().map_or(0, |script| script.action_count))
            }
            "is_transaction" => {
                json!(self.script_summary.as_ref().is_some_and(ScriptOverview::is_transaction))
            }
            "script_status" => json!(self.script_status()),
            "script_replayed_successfully" => json!(
                self.last_script_run
                    .as_ref()
                    .is_some_and(|last| matches!(last.outcome, Outcome::Ok | Outcome::Warning))
            ),
            _ => return None,
        })
    }

    /// Whether the caller may change it now (fields.md 3, `access_type`).
    fn may_edit(&self) -> bool {
        self.caller.role.allows(Permission::Edit) && !matches!(self.monitor.origin, Origin::File { .. })
    }

    fn is_mobile(&self) -> bool {
        matches!(self.monitor.monitor_type(), MonitorType::MobileCloud | MonitorType::MobileLab)
    }

    /// Returns its locations, or those of the account, with name and region. Mobile types list devices of the provider
    /// instead, which are returned as stored.
    fn locations(&self, stored_value: Option<&Value>) -> Value {
        if self.is_mobile() {
            return stored_value.cloned().unwrap_or_else(|| json!([]));
        }
        let to_object = |id: i64| match self.account.locations.get(&id) {
            Some(location) => json!({"id": id, "name": location.name, "region": location.region_code}),
            // The location was removed since.
            None => json!({"id": id, "name": "", "region": 0}),
        };
        self.account.location_pool_ids(self.monitor).into_iter().map(to_object).collect()
    }

    fn custom_properties(&self, stored_value: Option<&Value>) -> Value {
        let to_object = |entry: &Value| {
            let (id, value_id) = (entry.get("id")?.as_i64()?, entry.get("value_id")?.as_i64()?);
            let property = self.account.properties.get(&id);
            let value = property.and_then(|property| property.values.get(&value_id));
            let name = property.map(|property| property.name.as_str()).unwrap_or_default();
            let value = value.map(String::as_str).unwrap_or_default();
            Some(json!({"id": id, "value_id": value_id, "name": name, "value": value}))
        };
        stored_value.and_then(Value::as_array).into_iter().flatten().filter_map(to_object).collect()
    }

    fn client_certificate(&self) -> Option<&crate::catalog::CertificateSummary> {
        self.account.certificates.get(&self.monitor.document.client_certificate_id()?)
    }

    fn script_status(&self) -> String {
        match &self.last_script_run {
            None => "Never played".to_owned(),
            Some(last) if last.status.0 == 0 => last.outcome.to_string(),
            Some(last) => format!("{}: {} {}", last.outcome, last.status.0, last.status.text()),
        }
    }
}
