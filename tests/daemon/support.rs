//! Helpers that several test modules share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;
use vigie::catalog::MonitorCache;
use vigie::clock::FakeClock;
use vigie::domain::{
    Attempt, CheckId, CheckResult, CustomerId, Facts, Failure, FailureKind, Location, LocationId,
    MissedReason, MissedRuns, MonitorId, MonitorType, Outcome, Phase, Phases, Revision, Rollup, RunId,
    Status, Timestamp,
};
use vigie::schema::{Monitor, MonitorDocument, Origin};
use vigie::service::{AccountService, ClientConnection, MonitorReader};
use vigie::store::{
    MonitorLocationState, NewestResultQuery, PaginatedResults, Pagination, ResultFilter, ResultStore,
    RollupSpan, SqliteSettings, SqliteStore, StoreError, StoreFuture,
};
use vigie::telemetry::Metrics;
use vigie::telemetry::{HealthCondition, HealthSource};
use vigie::web::{self, PageState};

/// Returns a result of `monitor` with `outcome`, planned `minute` minutes after the start of 2026.
pub fn result(monitor: i64, minute: i64, outcome: Outcome) -> CheckResult {
    let planned_at = Timestamp::from_seconds(1_767_225_600 + 60 * minute);
    let run_id = RunId::new(MonitorId(monitor), planned_at);
    let failed = matches!(outcome, Outcome::Error);
    let status = if failed { Status::CONNECT_FAILED } else { Status::OK };
    let missed = (outcome == Outcome::Missed).then_some(MissedRuns {
        reason: MissedReason::Overload,
        run_count: 3,
        last_planned_at: planned_at + Duration::from_mins(2),
    });
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id: MonitorId(monitor),
        monitor_name: Arc::from(format!("monitor {monitor}")),
        revision: Revision(1),
        monitor_type: MonitorType::Website,
        location_id: LocationId(1),
        planned_at,
        started_at: planned_at + Duration::from_millis(2),
        outcome,
        status,
        warning_status: None,
        status_text: status.text().to_owned(),
        reasons: if failed { vec!["the target refused the connection".to_owned()] } else { vec![] },
        duration_us: 40_000,
        address: None,
        attempts: if missed.is_some() { vec![] } else { vec![attempt(planned_at, failed)] },
        facts: Facts::default(),
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed,
    }
}

fn attempt(started_at: Timestamp, failed: bool) -> Attempt {
    let mut phases = Phases::default();
    phases.set(Phase::Resolve, Duration::from_millis(1));
    phases.set(Phase::Connect, Duration::from_millis(9));
    if !failed {
        phases.set(Phase::FirstByte, Duration::from_millis(30));
    }
    let failure = failed.then(|| Failure::new(Phase::Connect, FailureKind::ConnectRefused, "127.0.0.1:9"));
    Attempt { number: 1, started_at, duration_us: 40_000, phases, failure, warnings: vec![] }
}

/// A result store in memory, newest first; `broken` makes every call fail.
#[derive(Default)]
pub struct MemoryResults {
    pub results: Vec<CheckResult>,
    pub states: Vec<MonitorLocationState>,
    pub broken: AtomicBool,
}

impl MemoryResults {
    pub fn new(results: Vec<CheckResult>) -> Self {
        let mut states: BTreeMap<MonitorId, MonitorLocationState> = BTreeMap::new();
        for result in &results {
            let state = MonitorLocationState {
                monitor_id: result.monitor_id,
                location_id: result.location_id,
                check_id: result.check_id,
                planned_at: result.planned_at,
                outcome: result.outcome,
                status: result.status,
                duration_us: result.duration_us,
                streak_started_at: result.planned_at,
                streak: 1,
                last_slot_at: Some(result.planned_at),
                last_full_page_at: None,
            };
            states.insert(result.monitor_id, state);
        }
        let mut results = results;
        results.sort_by_key(|result| std::cmp::Reverse(result.planned_at));
        Self { results, states: states.into_values().collect(), broken: AtomicBool::new(false) }
    }

    fn respond<'a, T: Send + 'a>(&self, answer: T) -> StoreFuture<'a, T> {
        let broken = self.broken.load(Ordering::Relaxed);
        let answer = if broken { Err(StoreError::Unusable("file is gone".to_owned())) } else { Ok(answer) };
        Box::pin(std::future::ready(answer))
    }
}

impl ResultStore for MemoryResults {
    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults> {
        let matches = |result: &&CheckResult| {
            (filter.monitors.is_empty() || filter.monitors.contains(&result.monitor_id))
                && filter.location.is_none_or(|location| result.location_id == location)
                && filter.from.is_none_or(|from| result.planned_at >= from)
                && filter.until.is_none_or(|thru| result.planned_at < thru)
                && (filter.outcomes.is_empty() || filter.outcomes.contains(&result.outcome))
        };
        let matching = self.results.iter().filter(matches);
        let count = matching.clone().count() as u64;
        let offset = usize::try_from(page.offset).unwrap();
        let results = matching.skip(offset).take(page.limit as usize).cloned().collect();
        self.respond(PaginatedResults { total: count, results })
    }

    fn capture(&self, id: CheckId, name: String) -> StoreFuture<'_, Option<vigie::domain::CapturedFile>> {
        let files = self.results.iter().filter(|result| result.check_id == id).flat_map(|r| &r.captures);
        self.respond(files.into_iter().find(|file| file.name == name).cloned())
    }

    fn location_states_for(&self, monitors: Vec<MonitorId>) -> StoreFuture<'_, Vec<MonitorLocationState>> {
        self.respond(self.states.iter().filter(|s| monitors.contains(&s.monitor_id)).cloned().collect())
    }

    fn result(&self, id: CheckId) -> StoreFuture<'_, Option<CheckResult>> {
        self.respond(self.results.iter().find(|result| result.check_id == id).cloned())
    }

    fn results_for_states(
        &self,
        states: Vec<MonitorLocationState>,
    ) -> StoreFuture<'_, Vec<Option<CheckResult>>> {
        let find = |state: &MonitorLocationState| {
            self.results.iter().find(|r| r.check_id == state.check_id).cloned()
        };
        self.respond(states.iter().map(find).collect())
    }

    fn newest_results(&self, queries: Vec<NewestResultQuery>) -> StoreFuture<'_, Vec<Option<CheckResult>>> {
        let find = |query: &NewestResultQuery| {
            let is_wanted = |result: &&CheckResult| {
                (result.monitor_id, result.location_id) == (query.monitor_id, query.location_id)
                    && (!query.only_passed || matches!(result.outcome, Outcome::Ok | Outcome::Warning))
                    && query.until.is_none_or(|until| result.planned_at < until)
            };
            self.results.iter().find(is_wanted).cloned()
        };
        self.respond(queries.iter().map(find).collect())
    }

    fn location_states(&self) -> StoreFuture<'_, Vec<MonitorLocationState>> {
        self.respond(self.states.clone())
    }

    fn state_changes(&self, _: Option<u64>) -> vigie::store::MonitorChanges {
        vigie::store::MonitorChanges { position: 0, monitors: None }
    }

    fn rollup_points(
        &self,
        _: vigie::domain::RollupQuery,
        _: Pagination,
    ) -> StoreFuture<'_, Option<vigie::domain::Paginated<Rollup>>> {
        self.respond(None)
    }

    fn rollups(
        &self,
        _: MonitorId,
        _: RollupSpan,
        _: Timestamp,
        _: Timestamp,
    ) -> StoreFuture<'_, Vec<Rollup>> {
        self.respond(vec![])
    }
}

impl vigie::store::UsageStore for MemoryResults {
    fn usage(&self, _: vigie::store::UsageQuery) -> StoreFuture<'_, Vec<(String, u64)>> {
        self.respond(vec![])
    }
}

impl vigie::store::SampleStore for MemoryResults {
    fn samples(
        &self,
        _: MonitorId,
        _: Timestamp,
        _: Timestamp,
        _: u32,
    ) -> StoreFuture<'_, Vec<vigie::domain::Sample>> {
        self.respond(vec![])
    }

    fn oldest_planned_at(&self, _: MonitorId) -> StoreFuture<'_, Option<Timestamp>> {
        self.respond(None)
    }

    fn mean_durations(
        &self,
        _: MonitorId,
        _: Timestamp,
        _: Timestamp,
    ) -> StoreFuture<'_, Vec<vigie::domain::LocationMeanDuration>> {
        self.respond(vec![])
    }
}

/// Returns a website monitor defined in a file.
pub fn monitor(id: i64, name: &str) -> Monitor {
    let values = json!({"name": name, "url": "http://user:hunter2@127.0.0.1/", "interval": 5, "timeout": 30, "enabled": true});
    let Value::Object(values) = values else { unreachable!() };
    Monitor {
        id: MonitorId(id),
        customer: CustomerId(1),
        origin: Origin::File { key: Arc::from(format!("key-{id}")) },
        revision: Revision(1),
        modified_at: Timestamp::from_seconds(1_767_225_600),
        document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()),
        metadata: Arc::default(),
    }
}

/// A health source whose conditions the test sets.
#[derive(Default)]
pub struct Health {
    pub fault: Mutex<Option<String>>,
}

impl HealthSource for Health {
    fn liveness(&self) -> Vec<HealthCondition> {
        vec![HealthCondition::met("runner")]
    }

    fn readiness(&self) -> Vec<HealthCondition> {
        vec![HealthCondition { name: "store", unmet_reason: self.fault.lock().unwrap().clone() }]
    }
}

/// Returns the location of these tests.
fn location() -> Location {
    Location { id: LocationId(1), name: "north & <south>".to_owned(), region_code: 7 }
}

/// The pages over the results in `kept` and some monitors, as the daemon serves them.
pub struct TestServer {
    pub router: Router,
    pub health: Arc<Health>,
    pub kept: Arc<MemoryResults>,
    host_token: String,
    _folder: TempDir,
}

pub async fn serve(kept: MemoryResults, monitors: Vec<Monitor>) -> TestServer {
    serve_pages(false, kept, monitors).await
}

/// Serves the pages; `is_public` opens them to everyone.
pub async fn serve_pages(is_public: bool, kept: MemoryResults, monitors: Vec<Monitor>) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &SqliteSettings::default()).unwrap();
    let store = Arc::new(store);
    let kept = Arc::new(kept);
    let monitor_cache = Arc::new(MonitorCache::default());
    monitor_cache.replace_all(monitors);
    let queries = Arc::new(MonitorReader::new(kept.clone(), monitor_cache, vec![location()]));
    let health = Arc::new(Health::default());
    let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(1_767_232_800)));
    let state = PageState {
        monitor_reader: queries.clone(),
        health: health.clone(),
        metrics: Arc::new(Metrics::new()),
        metrics_properties: Arc::default(),
        max_monitor_series: 10,
        metrics_permits: vigie::web::metrics_permits(),
        clock: clock.clone(),
    };
    let accounts = Arc::new(AccountService::new(
        store.clone(),
        store.clone(),
        store,
        Arc::new(vigie::vault::Keyring::ephemeral()),
        clock,
    ));
    let host_token = accounts.renew_host_token();
    let auth = web::PageAuth { is_public, ..web::PageAuth::new(accounts) };
    let router = web::with_common_middleware(web::router(state, auth), web::RequestLimits::default());
    TestServer { router, health, kept, host_token, _folder: folder }
}

/// A response with its body as text.
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl TestResponse {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl TestServer {
    /// Sends `GET path` with the token of the host.
    pub async fn get(&self, path: &str) -> TestResponse {
        let bearer = format!("Bearer {}", self.host_token);
        self.call(Request::get(path).header("authorization", bearer), "127.0.0.1").await
    }

    pub async fn call(&self, request: axum::http::request::Builder, peer: &str) -> TestResponse {
        let address = peer.parse().unwrap();
        let client = ClientConnection { address, is_tls: false, may_be_forwarded: false };
        let request = request.extension(client).body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = axum::body::to_bytes(response.into_body(), 64 << 20).await.unwrap();
        TestResponse { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
    }
}
