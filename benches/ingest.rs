//! Results into SQLite, from `submit` to the commit, for each synchronous level and kind of result (elements per second
//! are results per second), and reading them back. `cargo bench --bench ingest`.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;

use std::hint::black_box;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vigie::catalog::{AccountCache, InstanceData};
use vigie::clock::FakeClock;
use vigie::domain::{
    Attempt, CapturedFile, Certificate, CheckId, CheckResult, CustomerId, Facts, HttpFacts, Location,
    LocationId, MonitorId, MonitorType, Outcome, Phase, Phases, Revision, RunId, Status, Timestamp, TlsFacts,
};
use vigie::pipeline::{
    AgentStatus, AlertEngineDependencies, AlertEngineSettings, DeliveryWakeup, IngestSettings, Ingestor,
    PlanError, PlanFuture, Planner,
};
use vigie::schedule::SlotGrid;
use vigie::schema::{Monitor, MonitorDocument, Origin, SecretMode};
use vigie::store::{
    Ingest, IngestBatch, MonitorStore, Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore,
    Synchronous,
};
use vigie::telemetry::Metrics;

/// Each monitor has one run a minute; slots are spread over the minute as a hash would.
const MONITORS: i64 = 100_000;
/// 2026-03-01T00:00:00Z.
const START: i64 = 1_772_323_200_000_000;

/// Returns the `n`th result of all monitors, in the order in which they come due.
fn result(n: i64, facts: &Facts) -> CheckResult {
    let (round, slot) = (n / MONITORS, n % MONITORS);
    // The step has no common factor with the number of monitors: each comes once a round, in scattered order.
    let monitor_id = MonitorId(slot * 38_317 % MONITORS + 1);
    let planned_at = Timestamp::from_micros(START + round * 60_000_000 + slot * 600);
    let run_id = RunId::new(monitor_id, planned_at);
    let started_at = planned_at + Duration::from_micros(300);
    let total_us = 900 + n.unsigned_abs() % 7000;
    let mut phases = Phases::default();
    for phase in [Phase::Prepare, Phase::Resolve, Phase::Connect, Phase::Validate] {
        phases.set(phase, Duration::from_micros(total_us / 4));
    }
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id,
        monitor_name: Arc::from(format!("Shop front number {monitor_id}")),
        revision: Revision(1),
        monitor_type: if facts.http.is_some() { MonitorType::Website } else { MonitorType::Tcp },
        location_id: LocationId(1),
        planned_at,
        started_at,
        outcome: Outcome::Ok,
        status: Status::OK,
        warning_status: None,
        status_text: Status::OK.text().to_owned(),
        reasons: Vec::new(),
        duration_us: total_us,
        address: Some(([192, 0, 2, 7], 443).into()),
        attempts: vec![Attempt {
            number: 1,
            started_at,
            duration_us: total_us,
            phases,
            failure: None,
            warnings: Vec::new(),
        }],
        facts: facts.clone(),
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        missed: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
    }
}

fn https() -> Facts {
    let certificate = |subject: &str| Certificate {
        subject: format!("CN={subject}, O=Example Trust Services, C=US"),
        issuer: "CN=Example Issuing CA 2, O=Example Trust Services, C=US".to_owned(),
        subject_alt_names: vec![subject.to_owned(), format!("www.{subject}")],
        not_before: Timestamp::from_micros(START),
        not_after: Timestamp::from_micros(START + 7_776_000_000_000),
        sha256: "ab".repeat(32),
    };
    Facts {
        http: Some(Box::new(HttpFacts {
            http_status: 200,
            http_version: "HTTP/1.1".to_owned(),
            http_reason: Some("OK".to_owned()),
            body_wire_bytes: 18_233,
            body_bytes: 81_002,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            redirects: Vec::new(),
            url: "https://shop.test/front".to_owned(),
            ..HttpFacts::default()
        })),
        tls: Some(Box::new(TlsFacts {
            tls_version: Some("TLSv1.3".to_owned()),
            tls_cipher: Some("TLS13_AES_256_GCM_SHA384".to_owned()),
            certificates: vec![certificate("shop.test"), certificate("Example Issuing CA 2")],
            tls_warnings: Vec::new(),
        })),
        resolved_addresses: vec![[192, 0, 2, 7].into()],
        ..Facts::default()
    }
}

/// Moves each result to a slot of its monitor, as alerting expects, and sorts them by planned time.
fn move_to_slots(mut results: Vec<CheckResult>) -> Vec<CheckResult> {
    for result in &mut results {
        let round = (result.planned_at.as_micros() - START) / 60_000_000;
        let from = Timestamp::from_micros(START + round * 60_000_000);
        result.planned_at =
            SlotGrid::new(result.monitor_id, Duration::from_mins(1), None).first_slot_at_or_after(from);
        result.started_at = result.planned_at;
        result.run_id = RunId::new(result.monitor_id, result.planned_at);
        result.check_id = CheckId::new(result.run_id, result.location_id);
        result.attempts[0].started_at = result.started_at;
    }
    results.sort_by_key(|result| result.planned_at);
    results
}

/// A planner with one location that cannot run anything.
struct OneLocationPlanner;

impl Planner for OneLocationPlanner {
    fn apply_monitor_changes(&self, _: Vec<Monitor>, _: Vec<MonitorId>) -> PlanFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn request_first_checks(&self, _: &[Monitor]) {}

    fn run_check_now(&self, _: Monitor, _: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn run_traceroute(&self, _: Monitor, _: LocationId, _: Option<IpAddr>) -> PlanFuture<'_, CapturedFile> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        vec![AgentStatus { location: home(), is_alive: true, is_isolated: false, can_verify: false }]
    }
}

fn home() -> Location {
    Location { id: LocationId(1), name: "home".to_owned(), region_code: 1 }
}

/// Enables alerting for all monitors.
async fn enable_alerting(ingestor: &Ingestor, store: &Arc<SqliteStore>) {
    let facts = InstanceData { locations: vec![home()], ..InstanceData::default() };
    let dependencies = AlertEngineDependencies {
        alert_store: store.clone(),
        outbox: store.clone(),
        result_store: store.clone(),
        config_store: store.clone(),
        account_cache: Arc::new(AccountCache::new(store.clone(), facts)),
        planner: Arc::new(OneLocationPlanner),
        clock: Arc::new(FakeClock::new(Timestamp::from_micros(START + 120_000_000))),
        delivery_wakeup: DeliveryWakeup::default(),
    };
    ingestor.enable_alerting(dependencies, AlertEngineSettings::default()).await.unwrap();
    let minutely = |id| {
        let monitor = monitor(id);
        let mut values = monitor.document.to_non_default_fields(SecretMode::Revealed);
        values.insert("interval".to_owned(), 1.into());
        Monitor { document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()), ..monitor }
    };
    ingestor.update_monitors((1..=MONITORS).map(minutely).collect(), Vec::new()).await;
    // Alerting knows a monitor as soon as it has processed the update.
    while !ingestor.is_alerting_active(MonitorId(MONITORS)) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Stores `count` results; returns the time until the last one was committed.
fn run(
    runtime: &tokio::runtime::Runtime,
    synchronous: Synchronous,
    facts: &Facts,
    count: i64,
    watched: bool,
) -> Duration {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let settings = SqliteSettings { synchronous, ..SqliteSettings::default() };
    let store = Arc::new(SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap());
    let mut results: Vec<_> = (0..count).map(|n| result(n, facts)).collect();
    if watched {
        results = move_to_slots(results);
    }
    let elapsed = runtime.block_on(async {
        let metrics = Arc::new(Metrics::new());
        let ingestor = Ingestor::start(store.clone(), metrics, Vec::new(), IngestSettings::default());
        if watched {
            enable_alerting(&ingestor, &store).await;
        }
        let started = Instant::now();
        for result in results {
            ingestor.submit(black_box(result)).await;
        }
        assert_eq!(ingestor.drain(Duration::from_mins(10)).await, 0);
        started.elapsed()
    });
    runtime.block_on(store.close());
    elapsed
}

fn ingest(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut group = c.benchmark_group("ingest");
    group.sample_size(10);
    let count = 200_000;
    group.throughput(Throughput::Elements(200_000));
    for (kind, facts) in [("tcp", Facts::default()), ("https", https())] {
        for synchronous in [Synchronous::Normal, Synchronous::Full] {
            for (suffix, watched) in [("", false), (", watched", true)] {
                group.bench_function(BenchmarkId::new(kind, format!("{synchronous:?}{suffix}")), |b| {
                    b.iter_custom(|times| {
                        (0..times).map(|_| run(&runtime, synchronous, &facts, count, watched)).sum()
                    });
                });
            }
        }
    }
    group.finish();
}

/// A million results and 100,000 monitors, read as pages and API do.
fn read(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let settings = SqliteSettings { synchronous: Synchronous::Normal, ..SqliteSettings::default() };
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap();
    let facts = https();
    runtime.block_on(async {
        for first in (0..1_000_000).step_by(5000) {
            let mut results: Vec<_> = (first..first + 5000).map(|n| result(n, &facts)).collect();
            for failed in results.iter_mut().step_by(50) {
                failed.outcome = Outcome::Error;
                failed.status = Status::TIMED_OUT;
                failed.status_text = Status::TIMED_OUT.text().into();
            }
            store.commit(IngestBatch { results, ..IngestBatch::default() }).await.unwrap();
        }
        store
            .apply_monitors((1..=MONITORS).map(monitor).collect(), vec![], Box::new(|_| None))
            .await
            .unwrap();
    });
    let page = Pagination { limit: 100, offset: 0 };
    let filters = [
        ("results of one monitor", ResultFilter { monitors: vec![MonitorId(7)], ..ResultFilter::default() }),
        ("results of all monitors", ResultFilter::default()),
        (
            "errors of all monitors",
            ResultFilter { outcomes: vec![Outcome::Error], ..ResultFilter::default() },
        ),
    ];
    let mut group = c.benchmark_group("read");
    group.sample_size(20);
    for (name, filter) in filters {
        group.bench_function(name, |b| {
            b.iter(|| runtime.block_on(store.results(filter.clone(), page)).unwrap());
        });
    }
    let id = result(500_000, &facts).check_id;
    group.bench_function("one result", |b| b.iter(|| runtime.block_on(store.result(id)).unwrap().unwrap()));
    group.bench_function("100,000 monitors", |b| b.iter(|| runtime.block_on(store.monitors()).unwrap()));
    group.finish();
}

fn monitor(id: i64) -> Monitor {
    let values = serde_json::json!({
        "name": format!("Shop front number {id}"), "url": format!("https://shop{id}.test/front"), "interval": 5,
        "timeout": 20, "keyword_string": "Add to basket", "locations": [{"id": 1}], "notify_on_error": false,
    });
    let values = values.as_object().cloned().unwrap_or_default();
    Monitor {
        id: MonitorId(id),
        customer: CustomerId(1),
        origin: Origin::File { key: Arc::from(format!("shop-{id}")) },
        revision: Revision(1),
        modified_at: Timestamp::from_micros(START),
        document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()),
        metadata: Arc::default(),
    }
}

criterion_group!(benches, ingest, read);
criterion_main!(benches);
