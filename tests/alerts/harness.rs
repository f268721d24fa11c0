//! Runs ingestion over a store in a temporary folder, with monitors, recipients and fake locations.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::catalog::{AccountCache, InstanceData};
use vigie::clock::{Clock, FakeClock};
use vigie::domain::{
    Attempt, CapturedFile, CheckId, CheckResult, ConfigRecordKind, CustomerId, Facts, Failure, FailureKind,
    Location, LocationId, MonitorId, MonitorType, Notification, Outcome, Phase, Phases, Revision, RunId,
    Status, Timestamp,
};
use vigie::pipeline::{
    AgentStatus, AlertEngineDependencies, AlertEngineSettings, DeliveryWakeup, IngestSettings, Ingestor,
    PlanError, PlanFuture, Planner,
};
use vigie::schedule::SlotGrid;
use vigie::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};
use vigie::store::{
    AlertStore, ConfigChange, ConfigStore, EpisodeFilter, NewConfigRecord, NotificationFilter, Outbox,
    Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore, StoredEpisode,
};
use vigie::telemetry::Metrics;

/// 2026-03-01T00:00:00Z.
pub const START: i64 = 1_772_323_200;
pub const ALL: Pagination = Pagination { limit: 100_000, offset: 0 };

pub fn run(number: i64) -> Timestamp {
    Timestamp::from_seconds(START + 60 * number)
}

/// Returns the planned time of the first run of `monitor` at or after `time`.
pub fn slot(monitor: MonitorId, time: Timestamp) -> Timestamp {
    SlotGrid::new(monitor, Duration::from_mins(1), None).first_slot_at_or_after(time)
}

/// How a location responds to a request for a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckResponse {
    Completed(Outcome),
    Pending,
    Busy,
}

/// The locations 1 to 3; locations 1 and 2 share a region.
#[derive(Default)]
pub struct FakeLocations {
    pub responses: Mutex<HashMap<LocationId, CheckResponse>>,
    pub check_requests: Mutex<Vec<(MonitorId, LocationId)>>,
    pub trace_requests: Mutex<Vec<(MonitorId, LocationId, Option<IpAddr>)>>,
    /// Whether traceroutes return a result; otherwise they never end.
    pub traces_complete: Mutex<bool>,
    pub offline: Mutex<Vec<i64>>,
    /// Locations that have an agent.
    pub agents: Mutex<Vec<i64>>,
}

impl Planner for FakeLocations {
    fn apply_monitor_changes(&self, _: Vec<Monitor>, _: Vec<MonitorId>) -> PlanFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn request_first_checks(&self, _: &[Monitor]) {}

    fn run_check_now(&self, monitor: Monitor, location: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(async move {
            self.check_requests.lock().unwrap().push((monitor.id, location));
            let response = self.responses.lock().unwrap().get(&location).copied();
            match response.unwrap_or(CheckResponse::Completed(Outcome::Error)) {
                CheckResponse::Completed(outcome) => Ok(result(monitor.id, location.0, run(0), outcome)),
                CheckResponse::Busy => Err(PlanError::QueueFull),
                CheckResponse::Pending => std::future::pending().await,
            }
        })
    }

    fn run_traceroute(
        &self,
        monitor: Monitor,
        location: LocationId,
        address: Option<IpAddr>,
    ) -> PlanFuture<'_, CapturedFile> {
        Box::pin(async move {
            self.trace_requests.lock().unwrap().push((monitor.id, location, address));
            if !*self.traces_complete.lock().unwrap() {
                std::future::pending::<()>().await;
            }
            Ok(CapturedFile::new("traceroute.txt", "text/plain", b"1 gateway"))
        })
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        let offline = self.offline.lock().unwrap();
        let agent = |id: &i64| AgentStatus {
            location: location(*id),
            is_alive: !offline.contains(id),
            is_isolated: false,
            can_verify: *id == 3,
        };
        self.agents.lock().unwrap().iter().map(agent).collect()
    }
}

pub fn location(id: i64) -> Location {
    Location { id: LocationId(id), name: format!("place {id}"), region_code: if id < 3 { 1 } else { 2 } }
}

/// Returns a result with `outcome` for the first run of `monitor` at or after `time`.
pub fn result(monitor: MonitorId, location: i64, time: Timestamp, outcome: Outcome) -> CheckResult {
    let planned_at = slot(monitor, time);
    let run_id = RunId::new(monitor, planned_at);
    let failed = outcome == Outcome::Error;
    let status = match outcome {
        Outcome::Error => Status::CONNECT_FAILED,
        Outcome::Unknown => Status::INTERNAL,
        _ => Status::OK,
    };
    let failure = failed.then(|| Failure::new(Phase::Connect, FailureKind::ConnectRefused, "it refused"));
    let mut phases = Phases::default();
    phases.set(Phase::Connect, Duration::from_micros(700));
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(location)),
        run_id,
        monitor_id: monitor,
        monitor_name: "Shop".into(),
        revision: Revision(1),
        monitor_type: MonitorType::Tcp,
        location_id: LocationId(location),
        planned_at,
        started_at: planned_at,
        outcome,
        status,
        warning_status: None,
        status_text: status.text().to_owned(),
        reasons: if failed { vec!["it refused".to_owned()] } else { Vec::new() },
        duration_us: 700,
        address: Some("192.0.2.7:443".parse().unwrap()),
        attempts: vec![Attempt {
            number: 1,
            started_at: planned_at,
            duration_us: 700,
            phases,
            failure,
            warnings: Vec::new(),
        }],
        facts: Facts::default(),
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed: None,
    }
}

pub struct Harness {
    pub store: Arc<SqliteStore>,
    pub locations: Arc<FakeLocations>,
    pub clock: Arc<FakeClock>,
    pub accounts: Arc<AccountCache>,
    pub ingestor: Arc<Ingestor>,
    pub monitors: Vec<Monitor>,
    folder: TempDir,
}

impl Harness {
    /// Starts ingestion with agents at locations 1, 2 and 3.
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let locations = Arc::new(FakeLocations::default());
        *locations.agents.lock().unwrap() = vec![1, 2, 3];
        let clock = Arc::new(FakeClock::new(run(0)));
        let (store, accounts, ingestor) = open(&folder, &locations, &clock).await;
        Self { store, locations, clock, accounts, ingestor, monitors: Vec::new(), folder }
    }

    /// Restarts over the same store, once all submitted results are stored.
    pub async fn restart(self) -> Self {
        assert_eq!(self.ingestor.drain(Duration::from_secs(30)).await, 0);
        let Self { store, locations, clock, folder, monitors, .. } = self;
        store.close().await;
        locations.check_requests.lock().unwrap().clear();
        let (store, accounts, ingestor) = open(&folder, &locations, &clock).await;
        ingestor.update_monitors(monitors.clone(), Vec::new()).await;
        Self { store, locations, clock, accounts, ingestor, monitors, folder }
    }

    /// Creates a recipient of every availability alert from the first error on.
    pub async fn recipient(&self, fields: Value) -> i64 {
        let mut all = json!({"name": "Anna", "recipient": "anna@example.test", "method_id": 12,
            "availability_alert": true, "notify_on_clear": true, "start_threshold": 1, "stop_threshold": 10});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let id = self.record(ConfigRecordKind::Recipient, None, all).await;
        self.accounts.invalidate_all();
        id
    }

    pub async fn record(&self, kind: ConfigRecordKind, assoc: Option<i64>, fields: Value) -> i64 {
        let new = NewConfigRecord {
            kind,
            customer: Some(CustomerId(1)),
            parent_id: assoc,
            unique_key: None,
            created_at: run(0),
            created_by: String::new(),
            fields: fields.as_object().unwrap().clone(),
            private_data: None,
        };
        self.store.write_changes(vec![ConfigChange::CreateRecord(new)], Vec::new()).await.unwrap()[0]
    }

    /// Creates a monitor that runs each minute at `locations`, with additional `fields`.
    pub async fn monitor(&mut self, locations: &[i64], fields: Value) -> MonitorId {
        let id = MonitorId(i64::try_from(self.monitors.len()).unwrap() + 1);
        let monitor = monitor(id, locations, fields);
        self.monitors.push(monitor.clone());
        self.ingestor.update_monitors(vec![monitor], Vec::new()).await;
        id
    }

    /// Stores and activates a new revision of the monitor `id`.
    pub async fn change(&mut self, id: MonitorId, change: impl FnOnce(&mut Monitor)) {
        let monitor = self.monitors.iter_mut().find(|monitor| monitor.id == id).unwrap();
        monitor.revision = Revision(monitor.revision.0 + 1);
        change(monitor);
        let changed = monitor.clone();
        self.ingestor.update_monitors(vec![changed], Vec::new()).await;
    }

    /// Submits `results` of run `number` one second after its planned time and waits until they are stored.
    pub async fn submit_results(&self, number: i64, results: Vec<CheckResult>) {
        let planned = results.iter().map(|result| result.planned_at).max().unwrap_or(run(number));
        self.advance_to(planned + Duration::from_secs(1));
        let ids: Vec<CheckId> = results.iter().map(|result| result.check_id).collect();
        for result in results {
            self.ingestor.submit(result).await;
        }
        for id in ids {
            until("the result is kept", async || self.store.result(id).await.unwrap().is_some()).await;
        }
    }

    /// Submits a result with `outcome` for run `number` at location 1.
    pub async fn submit_outcome(&self, monitor: MonitorId, number: i64, outcome: Outcome) {
        self.submit_results(number, vec![result(monitor, 1, run(number), outcome)]).await;
    }

    pub fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Advances the clock to `time`, if that is in the future.
    pub fn advance_to(&self, time: Timestamp) {
        let now = self.clock.now();
        if time > now {
            self.clock.advance(time.since(now));
        }
    }

    /// Returns every notification, oldest first.
    pub async fn notifications(&self) -> Vec<Notification> {
        let mut rows = self.store.notifications(NotificationFilter::default(), ALL).await.unwrap().items;
        rows.reverse();
        rows
    }

    /// Returns the number of notifications.
    pub async fn count(&self) -> u64 {
        let one = Pagination { limit: 1, offset: 0 };
        self.store.notifications(NotificationFilter::default(), one).await.unwrap().total
    }

    /// Returns kind, run (in minutes) and error count of every notification.
    pub async fn summaries(&self) -> Vec<String> {
        let line = |message: &Notification| {
            let minute = (message.message.content.occurred_at.as_micros() / 1_000_000 - START) / 60;
            let errcount = message.message.content.consecutive_failures;
            format!("{} of run {minute}, error {errcount}", message.message.content.kind.name())
        };
        self.notifications().await.iter().map(line).collect()
    }

    pub async fn wait_for(&self, notifications: u64) {
        until("messages are written", async || self.count().await >= notifications).await;
    }

    pub async fn episodes(&self) -> Vec<StoredEpisode> {
        self.store.episodes(EpisodeFilter::default(), ALL).await.unwrap().items
    }

    pub async fn results(&self) -> Vec<CheckResult> {
        self.store.results(ResultFilter::default(), ALL).await.unwrap().results
    }
}

pub fn monitor(id: MonitorId, locations: &[i64], fields: Value) -> Monitor {
    let ids: Vec<Value> = locations.iter().map(|id| json!({"id": id})).collect();
    let mut all = json!({"name": "Shop", "hostname": "shop.example.test", "port": 443, "interval": 1,
        "timeout": 10, "mode": "Global Notify", "locations": ids,
        "home_location": locations[0], "notify_on_error": true, "traceroute_on_error": false,
        "alert_note": "call the shop"});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let kind = if all.get("url").is_some() { MonitorType::Website } else { MonitorType::Tcp };
    Monitor {
        id,
        customer: CustomerId(1),
        origin: Origin::Api,
        revision: Revision(1),
        modified_at: run(0),
        document: Arc::new(MonitorDocument::new(kind, all.as_object().unwrap().clone()).unwrap()),
        metadata: Arc::new(MonitorMetadata::default()),
    }
}

async fn open(
    folder: &TempDir,
    locations: &Arc<FakeLocations>,
    clock: &Arc<FakeClock>,
) -> (Arc<SqliteStore>, Arc<AccountCache>, Arc<Ingestor>) {
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &SqliteSettings::default()).unwrap();
    let store = Arc::new(store);
    let common = InstanceData {
        locations: (1..=3).map(location).collect(),
        default_certificate_warning_days: 30,
        ..InstanceData::default()
    };
    let accounts = Arc::new(AccountCache::new(store.clone(), common));
    let metrics = Arc::new(Metrics::new());
    let states = store.location_states().await.unwrap();
    let ingestor = Arc::new(Ingestor::start(store.clone(), metrics, states, IngestSettings::default()));
    let dependencies = AlertEngineDependencies {
        alert_store: store.clone(),
        outbox: store.clone(),
        result_store: store.clone(),
        config_store: store.clone(),
        account_cache: Arc::clone(&accounts),
        planner: locations.clone(),
        clock: clock.clone(),
        delivery_wakeup: DeliveryWakeup::default(),
    };
    ingestor.enable_alerting(dependencies, AlertEngineSettings::default()).await.unwrap();
    (store, accounts, ingestor)
}

/// Waits until `holds` returns true; panics after three minutes.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < Duration::from_mins(3), "it never came to it that {what}");
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

/// Returns how many alert states are stored.
pub async fn alert_state_count(harness: &Harness) -> usize {
    harness.store.alert_states().await.unwrap().len()
}

pub async fn due_notifications(harness: &Harness) -> Vec<Notification> {
    harness.store.due_notifications(harness.clock.now(), 1000, 1000).await.unwrap()
}
