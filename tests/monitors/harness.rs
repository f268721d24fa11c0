//! The monitor service over a store in a temporary folder, with a planner that only records.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use vigie::catalog::{AccountCache, InstanceData, MonitorCache};
use vigie::clock::{Clock, FakeClock};
use vigie::domain::{
    CapturedFile, CheckResult, ConfigRecord, ConfigRecordKind, CustomerId, EventSeries, EventSeriesQuery,
    Location, LocationId, MonitorId, MonitorType, Revision, Role, Timestamp, UserId,
};
use vigie::pipeline::{AgentStatus, PlanError, PlanFuture, Planner};
use vigie::schema::Monitor;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::BillingPlan;
use vigie::service::monitors;
use vigie::service::{Caller, EntryPoint, MonitorDependencies, MonitorService, SavedObject, ServiceError};
use vigie::store::{
    AuditEntry, AuditFilter, ConfigChange, ConfigRecordFilter, ConfigStore, NewAuditEntry, Paginated,
    Pagination, ResealFn, SqliteSettings, SqliteStore, StoreError, StoreFuture, StoredMonitor,
};
use vigie::syntax::node::Node;
use vigie::vault::Keyring;

/// Noon of the first day of 2026.
pub const NOON: i64 = 1_767_268_800;

/// Records which monitors are planned, in which revision.
#[derive(Default)]
pub struct RecordingPlanner {
    pub planned: Mutex<BTreeMap<MonitorId, Revision>>,
    pub calls: AtomicUsize,
    /// Requested first checks, with the revision that each is for.
    pub first_checks: Mutex<Vec<(MonitorId, Revision)>>,
    /// Whether calls with a change are refused, as by a runner that shuts down.
    pub ending: AtomicBool,
    pub now: Mutex<Timestamp>,
}

impl RecordingPlanner {
    pub fn planned(&self) -> BTreeMap<MonitorId, Revision> {
        self.planned.lock().unwrap().clone()
    }
}

impl Planner for RecordingPlanner {
    fn apply_monitor_changes(&self, upserts: Vec<Monitor>, removed: Vec<MonitorId>) -> PlanFuture<'_, ()> {
        let changes = !upserts.is_empty() || !removed.is_empty();
        if changes && self.ending.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(PlanError::Stopped)));
        }
        self.calls.fetch_add(usize::from(changes), Ordering::Relaxed);
        let mut planned = self.planned.lock().unwrap();
        for id in removed {
            planned.remove(&id);
        }
        for monitor in upserts {
            if monitor.is_active(*self.now.lock().unwrap()) {
                planned.insert(monitor.id, monitor.revision);
            } else {
                planned.remove(&monitor.id);
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn request_first_checks(&self, monitors: &[Monitor]) {
        let mut requested = self.first_checks.lock().unwrap();
        requested.extend(monitors.iter().map(|monitor| (monitor.id, monitor.revision)));
    }

    fn run_check_now(&self, _: Monitor, _: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn run_traceroute(&self, _: Monitor, _: LocationId, _: Option<IpAddr>) -> PlanFuture<'_, CapturedFile> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        Vec::new()
    }
}

/// A store that can be made to fail.
pub struct FailingStore {
    pub inner: Arc<SqliteStore>,
    pub broken: AtomicBool,
}

impl FailingStore {
    /// Returns the ids of all stored monitors.
    pub async fn inner_ids(&self) -> Vec<MonitorId> {
        self.inner.stored_monitors().await.unwrap().iter().map(|stored| stored.monitor.id).collect()
    }
}

impl ConfigStore for FailingStore {
    fn stored_monitors(&self) -> StoreFuture<'_, Vec<StoredMonitor>> {
        self.inner.stored_monitors()
    }

    fn write_changes(
        &self,
        changes: Vec<ConfigChange>,
        audit: Vec<NewAuditEntry>,
    ) -> StoreFuture<'_, Vec<i64>> {
        if self.broken.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(StoreError::DiskFull("vigie.db".to_owned()))));
        }
        self.inner.write_changes(changes, audit)
    }

    fn record(&self, kind: ConfigRecordKind, id: i64) -> StoreFuture<'_, Option<ConfigRecord>> {
        self.inner.record(kind, id)
    }

    fn record_by_unique_key(
        &self,
        kind: ConfigRecordKind,
        unique: String,
    ) -> StoreFuture<'_, Option<ConfigRecord>> {
        self.inner.record_by_unique_key(kind, unique)
    }

    fn records(
        &self,
        filter: ConfigRecordFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<ConfigRecord>> {
        self.inner.records(filter, page)
    }

    fn event_series(&self, query: EventSeriesQuery) -> StoreFuture<'_, Option<EventSeries>> {
        self.inner.event_series(query)
    }

    fn audit_entries(&self, filter: AuditFilter, page: Pagination) -> StoreFuture<'_, Paginated<AuditEntry>> {
        self.inner.audit_entries(filter, page)
    }

    fn customer_for_monitor(&self, monitor: MonitorId) -> StoreFuture<'_, Option<CustomerId>> {
        self.inner.customer_for_monitor(monitor)
    }

    fn reseal(&self, reseal: ResealFn) -> StoreFuture<'_, u64> {
        self.inner.reseal(reseal)
    }
}

/// The monitor service and everything that it depends on.
pub struct Harness {
    pub folder: TempDir,
    pub monitors: Arc<MonitorService>,
    pub store: Arc<FailingStore>,
    pub accounts: Arc<AccountCache>,
    pub planner: Arc<RecordingPlanner>,
    pub clock: Arc<FakeClock>,
    vault: Arc<Keyring>,
    common: InstanceData,
}

/// Returns the facts that all accounts share in these tests.
pub fn common() -> InstanceData {
    let at =
        |id: i64, name: &str| Location { id: LocationId(id), name: name.to_owned(), region_code: id * 10 };
    InstanceData {
        locations: vec![at(1, "north"), at(2, "south")],
        dns_name_count: 1,
        supported_types: MonitorType::ALL.to_vec(),
        supported_tls_versions: vec!["", "11", "12"],
        default_certificate_warning_days: 30,
        ..InstanceData::default()
    }
}

/// Returns [`common`] with a plan `small` for two monitors and an unlimited plan `large`.
pub fn with_plans() -> InstanceData {
    let plan = |code: &str, most_monitors: Option<usize>| BillingPlan {
        code: code.to_owned(),
        monitor_types: Vec::new(),
        min_interval_minutes: 1,
        max_monitors: most_monitors,
        monitor_count: 0,
        max_locations: None,
    };
    InstanceData { billing_plans: Some(vec![plan("small", Some(2)), plan("large", None)]), ..common() }
}

impl Harness {
    pub fn new() -> Self {
        Self::over(common())
    }

    pub fn over(common: InstanceData) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::at(folder, Arc::new(Keyring::ephemeral()), common)
    }

    fn at(folder: TempDir, vault: Arc<Keyring>, common: InstanceData) -> Self {
        let store = SqliteStore::open(&database(&folder), &SqliteSettings::default()).unwrap();
        let store = Arc::new(FailingStore { inner: Arc::new(store), broken: AtomicBool::new(false) });
        let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(NOON)));
        let planner =
            Arc::new(RecordingPlanner { now: Mutex::new(clock.now()), ..RecordingPlanner::default() });
        let accounts = Arc::new(AccountCache::new(store.clone(), common.clone()));
        let monitors = Arc::new(MonitorService::new(MonitorDependencies {
            config_store: store.clone(),
            monitor_cache: Arc::new(MonitorCache::default()),
            account_cache: Arc::clone(&accounts),
            planner: planner.clone(),
            keyring: Arc::clone(&vault),
            clock: clock.clone(),
        }));
        Self { folder, monitors, store, accounts, planner, clock, vault, common }
    }

    /// Restarts over the same data, with nothing planned.
    pub async fn restarted(self) -> Self {
        self.store.inner.close().await;
        let Self { folder, monitors, store, vault, common, accounts, .. } = self;
        drop((monitors, store, accounts));
        let harness = Self::at(folder, vault, common);
        monitors::load_monitors(&harness.monitors).await.unwrap();
        harness
    }

    pub async fn create(&self, values: Value) -> Result<SavedObject, ServiceError> {
        monitors::create(&self.monitors, &admin(), MonitorType::Website, InputFormat::V3, &website(values))
            .await
    }

    /// Creates a website monitor and returns its id.
    pub async fn create_monitor(&self, values: Value) -> MonitorId {
        MonitorId(self.create(values).await.unwrap().id)
    }

    pub async fn patch(&self, id: MonitorId, body: Value) -> Result<SavedObject, ServiceError> {
        monitors::patch(&self.monitors, &admin(), id, None, InputFormat::V3, &Node::from(body), None).await
    }

    pub fn monitor(&self, id: MonitorId) -> Monitor {
        self.monitors.monitor_cache().get(id).unwrap()
    }

    pub async fn audit(&self) -> Vec<AuditEntry> {
        let all = Pagination { limit: 1000, offset: 0 };
        let mut rows = self.store.audit_entries(AuditFilter::default(), all).await.unwrap().items;
        rows.sort_by_key(|row| row.id);
        rows
    }

    pub async fn monitor_json(&self, caller: &Caller, id: MonitorId) -> Map<String, Value> {
        monitors::monitors_to_json(&self.monitors, caller, &[self.monitor(id)]).await.unwrap().remove(0)
    }

    /// Returns the bytes of all files that the store wrote.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            bytes.extend(std::fs::read(entry.unwrap().path()).unwrap());
        }
        bytes
    }
}

fn database(folder: &TempDir) -> PathBuf {
    folder.path().join("vigie.db")
}

/// Returns a body for a website monitor: the required fields and `values`.
pub fn website(values: Value) -> Node {
    let mut body = json!({"billing_plancode": "large", "name": "shop", "url": "http://127.0.0.1:9/"});
    if let (Value::Object(body), Value::Object(values)) = (&mut body, values) {
        body.extend(values);
    }
    Node::from(body)
}

pub fn caller(customer: i64, role: Role) -> Caller {
    Caller {
        customer: CustomerId(customer),
        user_id: UserId(7),
        login: Arc::from("anna"),
        role,
        token_scopes: None,
        client_address: None,
        entry_point: EntryPoint::ApiV3,
    }
}

pub fn admin() -> Caller {
    caller(1, Role::Admin)
}

/// Returns the messages of a validation error.
pub fn error_messages(error: ServiceError) -> Vec<String> {
    match error {
        ServiceError::Invalid(errors) => errors.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}
