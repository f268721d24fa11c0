//! The APIs over a real store in a temporary folder, with a planner that runs nothing. Calls go straight to the
//! router.
#![allow(dead_code)]

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use aws_lc_rs::digest;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tower::ServiceExt;
use vigie::api::{ApiState, push, v3};
use vigie::catalog::{AccountCache, InstanceData, MobileSettings, MonitorCache};
use vigie::clock::{Clock, FakeClock};
use vigie::domain::{
    CapturedFile, CheckId, CheckResult, ConfigRecordKind, CustomerId, Facts, Location, LocationId, MonitorId,
    MonitorType, Outcome, Role, RunId, Status, Timestamp, UserId,
};
use vigie::pipeline::{AgentStatus, PlanError, PlanFuture, Planner};
use vigie::schema::Monitor;
use vigie::service::agents::{AgentService, AgentServiceDependencies, TrustFile};
use vigie::service::hosts::{HostService, HostServiceDependencies, PushService};
use vigie::service::monitors;
use vigie::service::{
    AccountService, AlertService, AlertServiceDependencies, ConfigRecordService,
    ConfigRecordServiceDependencies, LastRunLookup, MonitorDependencies, MonitorReader, MonitorService,
    NoopAlertPipeline, OnDemandTestDependencies, OnDemandTests, ResultShareDependencies, ResultShares,
};
use vigie::store::{
    ConfigChange, ConfigStore, MonitorLocationState, NewConfigRecord, SqliteSettings, SqliteStore,
    StoredToken, Synchronous, TokenKind, TokenStore,
};
use vigie::syntax::node::Node;
use vigie::telemetry::Metrics;
use vigie::vault::Keyring;

/// 2026-11-20T12:00:00Z, when every test starts.
pub const NOON: i64 = 1_795_176_000;
/// Days for which tests on demand are kept.
pub const RETENTION_DAYS: u64 = 30;

/// The application under test. Account 1 exists; [`App::account`] adds more.
pub struct App {
    pub state: ApiState,
    pub router: Router,
    pub store: Arc<SqliteStore>,
    pub planner: Arc<FakePlanner>,
    pub clock: Arc<FakeClock>,
    pub monitors: Arc<MonitorCache>,
    pub metrics: Arc<Metrics>,
    folder: TempDir,
}

impl App {
    /// Starts the application over an empty store.
    pub async fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), NOON, &SqliteSettings::default()).await
    }

    /// Starts the application with a store that does not wait for the disk, for tests of many changes.
    pub async fn start_quick() -> Self {
        let settings =
            SqliteSettings { synchronous: Synchronous::Normal, reader_threads: 1, ..Default::default() };
        Self::start_in(tempfile::tempdir().unwrap(), NOON, &settings).await
    }

    /// Closes the application and starts it again over the same data, as after a restart of the process.
    pub async fn restarted(self) -> Self {
        let now = self.clock.now().as_micros() / 1_000_000;
        self.store.close().await;
        let Self { folder, .. } = self;
        Self::start_in(folder, now, &SqliteSettings::default()).await
    }

    /// Starts the application over existing data, at the second `now`.
    pub async fn over(folder: TempDir, now: i64) -> Self {
        Self::start_in(folder, now, &SqliteSettings::default()).await
    }

    /// Returns a client that holds the token of the host.
    pub fn host(&self) -> Client {
        let token = self.state.account_service.renew_host_token();
        Client { router: self.router.clone(), token: Some(token) }
    }

    async fn start_in(folder: TempDir, now: i64, settings: &SqliteSettings) -> Self {
        let path = folder.path().join("vigie.db");
        let store = Arc::new(SqliteStore::open(&path, settings).unwrap());
        let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(now)));
        let planner = Arc::new(FakePlanner::new());
        let config: Arc<dyn ConfigStore> = store.clone();
        let monitor_cache = Arc::new(MonitorCache::default());
        let account_cache = Arc::new(AccountCache::new(Arc::clone(&config), common()));
        let vault = Arc::new(Keyring::read_or_create(&folder.path().join("vigie.key")).unwrap());
        let timer: Arc<dyn Clock> = clock.clone();
        let monitors = MonitorService::new(MonitorDependencies {
            config_store: Arc::clone(&config),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            planner: planner.clone(),
            keyring: Arc::clone(&vault),
            clock: Arc::clone(&timer),
        });
        let monitors = Arc::new(monitors.with_last_run_lookup(planner.clone()));
        monitor_cache.replace_all(monitors::load_monitors(&monitors).await.unwrap());
        let tokens: Arc<dyn TokenStore> = store.clone();
        let accounts = Arc::new(AccountService::new(
            Arc::clone(&config),
            tokens,
            store.clone(),
            Arc::clone(&vault),
            Arc::clone(&timer),
        ));
        let metrics = Arc::new(Metrics::new());
        let host_dependencies = HostServiceDependencies {
            config_store: Arc::clone(&config),
            host_store: store.clone(),
            push_store: store.clone(),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            clock: Arc::clone(&timer),
        };
        let resources = Arc::new(ConfigRecordService::new(ConfigRecordServiceDependencies {
            config_store: Arc::clone(&config),
            host_store: store.clone(),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            keyring: Arc::clone(&vault),
            planner: planner.clone(),
            account_service: Arc::clone(&accounts),
            metrics: Arc::clone(&metrics),
            clock: Arc::clone(&timer),
        }));
        let on_demand_tests = Arc::new(OnDemandTests::new(OnDemandTestDependencies {
            config_store: Arc::clone(&config),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            planner: planner.clone(),
            clock: Arc::clone(&timer),
            retention: std::time::Duration::from_secs(RETENTION_DAYS * 86_400),
        }));
        let alerts = Arc::new(AlertService::new(AlertServiceDependencies {
            alert_store: store.clone(),
            outbox: store.clone(),
            config_store: Arc::clone(&config),
            alert_pipeline_handle: Arc::new(NoopAlertPipeline),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&account_cache),
            clock: Arc::clone(&timer),
        }));
        let agents = Arc::new(AgentService::new(AgentServiceDependencies {
            config_store: Arc::clone(&config),
            throttle_store: store.clone(),
            keyring: Arc::clone(&vault),
            trust: TrustFile::in_data_dir(folder.path()).read(&vault).unwrap().map(Arc::new),
            clock: Arc::clone(&timer),
        }));
        let queries =
            Arc::new(MonitorReader::new(store.clone(), Arc::clone(&monitor_cache), common().locations));
        queries.set_account_data(account_cache, Arc::clone(&config), store.clone());
        let result_shares = Arc::new(ResultShares::new(ResultShareDependencies {
            config_store: Arc::clone(&config),
            monitor_reader: Arc::clone(&queries),
            clock: Arc::clone(&timer),
        }));
        let state = ApiState {
            account_service: accounts,
            monitor_service: monitors,
            record_service: resources,
            agent_service: agents,
            host_service: Arc::new(HostService::new(host_dependencies.clone())),
            push_service: Arc::new(PushService::new(host_dependencies, planner.clone())),
            alert_service: alerts,
            on_demand_tests,
            result_shares,
            monitor_reader: queries,
            upload_permits: Arc::default(),
            clock: timer,
        };
        let router = v3::router(state.clone()).merge(push::router(state.clone()));
        Self { state, router, store, planner, clock, monitors: monitor_cache, metrics, folder }
    }

    /// Closes the application; returns its data folder.
    pub async fn stop(self) -> TempDir {
        self.store.close().await;
        self.folder
    }

    /// Returns the bytes of all files of the store.
    pub fn files(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let stores = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("vigie.db"));
        stores.flat_map(|path| std::fs::read(path).unwrap()).collect()
    }

    /// Creates another account.
    pub async fn account(&self, name: &str) -> CustomerId {
        let record = self.record(ConfigRecordKind::Customer, None, json!({"name": name}), Some(name));
        CustomerId(self.store.write_changes(vec![record], Vec::new()).await.unwrap()[0])
    }

    /// Creates a user of `role` in account 1 and returns its logged-in client.
    pub async fn login(&self, role: Role) -> Client {
        self.login_to(CustomerId(1), role).await
    }

    /// Creates a user of `role` in `account` and returns its logged-in client.
    pub async fn login_to(&self, account: CustomerId, role: Role) -> Client {
        let login = format!("{}-{account}", role.name().to_lowercase());
        let unique = format!("{login}-{}", next_number());
        let fields =
            json!({"login": login, "name": "", "role": role.name(), "enabled": true, "locked": false});
        let record = self.record(ConfigRecordKind::User, Some(account), fields, Some(&unique));
        let user = UserId(self.store.write_changes(vec![record], Vec::new()).await.unwrap()[0]);
        let token = format!("test-{}-{}", user, next_number());
        let issued_at = self.clock.now();
        let stored = StoredToken::new(sha256(&token), TokenKind::Access, user, issued_at)
            .expiring_at(issued_at + std::time::Duration::from_hours(1));
        self.store.insert(stored).await.unwrap();
        Client { router: self.router.clone(), token: Some(token) }
    }

    /// Serves the API on a port of its own until the test ends; returns its URL, for the commands of the terminal.
    pub async fn serve(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().nest("/api/v3", self.router.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        url
    }

    /// Returns a client without a token.
    pub fn anonymous(&self) -> Client {
        Client { router: self.router.clone(), token: None }
    }

    fn record(
        &self,
        kind: ConfigRecordKind,
        customer: Option<CustomerId>,
        fields: Value,
        unique: Option<&str>,
    ) -> ConfigChange {
        ConfigChange::CreateRecord(NewConfigRecord {
            kind,
            customer,
            parent_id: None,
            unique_key: unique.map(str::to_owned),
            created_at: self.clock.now(),
            created_by: "test".to_owned(),
            fields: fields.as_object().unwrap().clone(),
            private_data: None,
        })
    }
}

/// Returns three locations, a few monitor types, and no limits by plan.
fn common() -> InstanceData {
    let location = |id, name: &str| Location { id: LocationId(id), name: name.to_owned(), region_code: id };
    InstanceData {
        locations: vec![location(1, "Home"), location(2, "Away"), location(3, "Far")],
        dns_name_count: 1,
        supported_types: vec![
            MonitorType::Website,
            MonitorType::WebsiteSsl,
            MonitorType::Tcp,
            MonitorType::Ping,
        ],
        supported_tls_versions: vec!["12"],
        default_certificate_warning_days: 14,
        mobile_emulation: MobileSettings {
            provider_host: Some("devices.test".to_owned()),
            region_id: Some(3),
            profile_names: [(1, "phone"), (2, "tablet"), (3, "watch")]
                .map(|(id, name)| (id, name.to_owned()))
                .into(),
        },
        ..InstanceData::default()
    }
}

/// A client of the API.
#[derive(Clone)]
pub struct Client {
    router: Router,
    pub token: Option<String>,
}

/// A response of the API.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Client {
    /// Returns it with this token in place of its own.
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], "").await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.json(Method::POST, path, &[], &body).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.json(Method::PATCH, path, &[], &body).await
    }

    /// Sends `body` as JSON with additional headers.
    pub async fn json(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
        let headers = [&[("content-type", "application/json")], headers].concat();
        self.send(method, path, &headers, body.to_string()).await
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Reply { status: head.status, headers: head.headers, text }
    }
}

impl Reply {
    /// Returns the JSON body and requires the status `status`.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { serde_json::from_str(&self.text).unwrap() }
    }

    /// Returns the messages of an error body; its status and the code of each entry must be `status`.
    #[track_caller]
    pub fn refused(self, status: u16) -> Vec<String> {
        let body = self.expect(status);
        let errors = body["errors"].as_array().unwrap();
        assert!(!errors.is_empty());
        assert!(errors.iter().all(|error| error["code"] == status), "{body}");
        errors.iter().map(|error| error["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the id of the object that was created or changed.
    #[track_caller]
    pub fn id(self) -> i64 {
        self.expect(200)["id"].as_str().unwrap().parse().unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// A planner that records its calls. On-demand checks end as configured and can be held back.
pub struct FakePlanner {
    planned: Mutex<Vec<(Vec<Monitor>, Vec<MonitorId>)>>,
    first_checks: Mutex<Vec<MonitorId>>,
    checked: Mutex<Vec<Monitor>>,
    outcome: Mutex<Result<Outcome, PlanError>>,
    last: Mutex<Option<(Outcome, Status)>>,
    gate: Semaphore,
}

impl FakePlanner {
    fn new() -> Self {
        let outcome = Mutex::new(Ok(Outcome::Ok));
        Self {
            planned: Mutex::default(),
            first_checks: Mutex::default(),
            checked: Mutex::default(),
            outcome,
            last: Mutex::default(),
            gate: Semaphore::new(1_000_000),
        }
    }

    /// Returns the monitors added and removed, call by call.
    pub fn planned(&self) -> MutexGuard<'_, Vec<(Vec<Monitor>, Vec<MonitorId>)>> {
        self.planned.lock().unwrap()
    }

    /// Takes the monitors that were checked on demand, as they were then.
    pub fn take_checked(&self) -> Vec<Monitor> {
        std::mem::take(&mut *self.checked.lock().unwrap())
    }

    /// Takes the monitors for which first checks were requested.
    pub fn take_first_checks(&self) -> Vec<MonitorId> {
        std::mem::take(&mut *self.first_checks.lock().unwrap())
    }

    /// Sets how checks end from now on.
    pub fn set_outcome(&self, outcome: Result<Outcome, PlanError>) {
        *self.outcome.lock().unwrap() = outcome;
    }

    /// Sets how the last run of every monitor ended.
    pub fn set_last_run(&self, outcome: Outcome, status: Status) {
        *self.last.lock().unwrap() = Some((outcome, status));
    }

    /// Makes checks wait from now on.
    pub fn hold_checks(&self) {
        self.gate.forget_permits(usize::MAX);
    }

    /// Lets `checks` waiting checks end.
    pub fn release_checks(&self, checks: usize) {
        self.gate.add_permits(checks);
    }
}

impl Planner for FakePlanner {
    fn apply_monitor_changes(&self, upserts: Vec<Monitor>, removed: Vec<MonitorId>) -> PlanFuture<'_, ()> {
        self.planned().push((upserts, removed));
        Box::pin(async { Ok(()) })
    }

    fn request_first_checks(&self, monitors: &[Monitor]) {
        self.first_checks.lock().unwrap().extend(monitors.iter().map(|monitor| monitor.id));
    }

    fn run_check_now(&self, monitor: Monitor, location: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            self.checked.lock().unwrap().push(monitor.clone());
            let outcome = (*self.outcome.lock().unwrap())?;
            Ok(result(&monitor, location, outcome))
        })
    }

    fn run_traceroute(&self, _: Monitor, _: LocationId, _: Option<IpAddr>) -> PlanFuture<'_, CapturedFile> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        Vec::new()
    }
}

impl LastRunLookup for FakePlanner {
    fn last_run(&self, monitor: &Monitor) -> Option<MonitorLocationState> {
        let (outcome, status) = (*self.last.lock().unwrap())?;
        let (at, location_id) = (Timestamp::from_seconds(NOON), LocationId(1));
        Some(MonitorLocationState {
            monitor_id: monitor.id,
            location_id,
            check_id: CheckId::new(RunId::new(monitor.id, at), location_id),
            planned_at: at,
            outcome,
            status,
            duration_us: 1000,
            streak_started_at: at,
            streak: 1,
            last_slot_at: Some(at),
            last_full_page_at: None,
        })
    }
}

/// Returns the result of a check of `monitor` at [`NOON`], with one captured file.
pub fn result(monitor: &Monitor, location: LocationId, outcome: Outcome) -> CheckResult {
    let at = Timestamp::from_seconds(NOON);
    let run_id = RunId::new(monitor.id, at);
    let status = if outcome == Outcome::Ok { Status::OK } else { Status(1) };
    CheckResult {
        check_id: CheckId::new(run_id, location),
        run_id,
        monitor_id: monitor.id,
        monitor_name: Arc::from(monitor.name()),
        revision: monitor.revision,
        monitor_type: monitor.monitor_type(),
        location_id: location,
        planned_at: at,
        started_at: at,
        outcome,
        status,
        warning_status: None,
        status_text: status.text().to_owned(),
        reasons: Vec::new(),
        duration_us: 1000,
        address: None,
        attempts: Vec::new(),
        facts: Facts::default(),
        details: vigie::domain::CheckDetails::default(),
        captures: vec![CapturedFile::new("response-head.txt", "text/plain", b"HTTP/1.1 200")],
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed: None,
    }
}

/// Returns the smallest valid body of a website monitor, extended by the fields `more`.
pub fn website(name: &str, more: Value) -> Value {
    let mut body = json!({"billing_plancode": "basic", "name": name, "url": "http://shop.example.com/"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Returns the example of `kind` in `config/monitors` as a request body of API version 3.
pub fn example(kind: MonitorType) -> Value {
    let path = format!("{}/config/monitors/{kind}.yaml", env!("CARGO_MANIFEST_DIR"));
    let tree = Node::from_yaml(&std::fs::read_to_string(path).unwrap()).unwrap();
    let of_kind = |node: &&Node| node.get("type").and_then(Node::as_text) == Some(kind.name());
    let mut body = tree.items().iter().find(of_kind).unwrap().to_json();
    inline_secrets(&mut body);
    let fields = body.as_object_mut().unwrap();
    for name in ["key", "customer", "locations", "home_location"] {
        fields.remove(name);
    }
    body
}

/// Replaces references to secret files and environment variables by inline secrets.
fn inline_secrets(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in fields.keys().cloned().collect::<Vec<_>>() {
                let base_name = name.strip_suffix("_file").or_else(|| name.strip_suffix("_env"));
                if let Some(field) = base_name {
                    fields.remove(&name);
                    fields.insert(field.to_owned(), json!("secret"));
                }
            }
            fields.values_mut().for_each(inline_secrets);
        }
        Value::Array(items) => items.iter_mut().for_each(inline_secrets),
        _ => {}
    }
}

pub fn sha256(text: &str) -> [u8; 32] {
    digest::digest(&digest::SHA256, text.as_bytes()).as_ref().try_into().unwrap()
}

fn next_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
