//! Results that agents have published through JetStream, from the start of the bus of the control plane to the last
//! acknowledgement: taken, checked, committed to SQLite or PostgreSQL, reported to the agents and acknowledged. Starts a
//! `nats-server` and a PostgreSQL server of its own. `cargo bench --bench bus_ingest`; with `-- --quick` fewer results.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/results.rs"]
mod results;
#[path = "../tests/support/mod.rs"]
#[allow(dead_code, reason = "tests use the rest of it")]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use nix::sys::resource::UsageWho;
use sqlx::Connection;
use tokio::task::JoinHandle;
use vigie::bus::contract::{
    AssignedMonitor, AssignmentUpdate, BusEvent, BusEventSink, BusFuture, ConnectedLocation, ResultTransport,
    SnapshotSource, Urgency,
};
use vigie::bus::messages::{BusMessage, CommittedChecksMessage, SealContext, Sealer};
use vigie::bus::nats::{
    AgentIdentity, NatsBus, NatsBusDependencies, NatsConnection, NatsResultTransport, RemoteLocation,
    subjects,
};
use vigie::clock::SystemClock;
use vigie::domain::{AgentId, CheckResult, Facts, LocationId};
use vigie::pipeline::{IngestSettings, Ingestor};
use vigie::store::{
    Pagination, PostgresStore, ResultFilter, SqliteSettings, SqliteStore, Store, Synchronous,
};
use vigie::telemetry::{Metrics, SupervisedTask, TaskHeartbeat, TaskName};
use zeroize::Zeroizing;

use cpu::cpu;
use results::{MONITORS, enable_alerting, home, https, monitor, move_to_slots, result};
use support::nats::NatsServer;
use support::postgres::PostgresServer;

/// Agents of the location.
const AGENTS: i64 = 10;
/// Results that an agent sends at once when more are waiting (`MAX_BATCH` of the outbox).
const BATCH: usize = 256;
/// Results that are published in a message each, as many agents with few monitors do, and how many at once.
const SINGLE_RESULTS: i64 = 50_000;
const SINGLES_AT_ONCE: usize = 1_000;

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let result_count = if is_quick { 100_000 } else { 400_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let postgres = PostgresServer::start_with(&["-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB"]);
        for (kind, facts) in [("tcp", Facts::default()), ("https", https())] {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let settings = SqliteSettings { synchronous: Synchronous::Full, ..SqliteSettings::default() };
            let store = SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap();
            measure(&format!("SQLite, {kind}"), Arc::new(store), &facts, result_count).await;
            let name = postgres.create_database().await;
            let store = PostgresStore::connect(&postgres.settings(&name)).await.unwrap();
            measure(&format!("PostgreSQL, {kind}"), Arc::new(store), &facts, result_count).await;
            let bytes = bytes_of_results(&postgres.url(&name)).await;
            println!("PostgreSQL, {kind}: {:.0} bytes on disk a result", bytes as f64 / result_count as f64);
            postgres.execute("postgres", format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    });
}

async fn measure(what: &str, store: Arc<dyn Store>, facts: &Facts, result_count: i64) {
    let server = NatsServer::start();
    let connection = NatsConnection::open(&[server.url()], async_nats::ConnectOptions::new()).await.unwrap();
    let monitors: Vec<_> = (1..=MONITORS).map(monitor).collect();
    store.apply_monitors(monitors.clone(), Vec::new(), Box::new(|_| None)).await.unwrap();
    let to_update = |monitor| AssignmentUpdate::Assign(AssignedMonitor::new(monitor, Some(14)));
    let source = Arc::new(Assignments(monitors.into_iter().map(to_update).collect()));
    let ingestor =
        Ingestor::start(store.clone(), Arc::new(Metrics::new()), Vec::new(), IngestSettings::default());
    enable_alerting(&ingestor, &store).await;
    let ingestor = Arc::new(ingestor);

    // The first control plane makes the streams and publishes the assignments.
    let first = ControlPlane::start(&connection, &source, &ingestor).await;
    let bucket = subjects::snapshots_stream(home().id);
    wait_until(async || message_count(&connection, &bucket).await > 0).await;
    for stream in [subjects::RESULTS_STREAM, subjects::BACKLOG_STREAM, subjects::CAPTURES_STREAM] {
        wait_until(async || connection.jetstream().get_stream(stream).await.is_ok()).await;
    }
    first.stop().await;
    let singles: Vec<_> = (result_count..result_count + SINGLE_RESULTS).map(|n| result(n, facts)).collect();
    println!(
        "{what}: {:.0} messages/s into NATS, a result each",
        publish_singly(&connection, &singles).await
    );

    let results = move_to_slots((0..result_count).map(|n| result(n, facts)).collect());
    let bytes = publish(&connection, &results).await;
    let messages = message_count(&connection, subjects::RESULTS_STREAM).await;
    let reports = count_reports(&connection, results.len()).await;

    let (started, cpu_before) = (Instant::now(), cpu(UsageWho::RUSAGE_SELF));
    let second = ControlPlane::start(&connection, &source, &ingestor).await;
    wait_until(async || message_count(&connection, subjects::RESULTS_STREAM).await == 0).await;
    let (elapsed, used) = (started.elapsed(), cpu(UsageWho::RUSAGE_SELF).saturating_sub(cpu_before));
    tokio::time::timeout(Duration::from_secs(30), reports).await.expect("every result is reported").unwrap();
    second.stop().await;

    let stored = store.results(ResultFilter::default(), Pagination { limit: 1, offset: 0 }).await.unwrap();
    assert_eq!(stored.total, result_count.unsigned_abs(), "all are stored");
    println!(
        "{what}: {:.0} results/s, {result_count} in {messages} messages of {:.0} bytes a result; CPU of Vigie per 1,000 \
         results {:.1} ms",
        result_count as f64 / elapsed.as_secs_f64(),
        bytes as f64 / result_count as f64,
        used.as_secs_f64() * 1e6 / result_count as f64,
    );
    store.close().await;
}

/// Publishes `results` as agents do, and returns the bytes of them encoded.
async fn publish(connection: &NatsConnection, results: &[CheckResult]) -> usize {
    let mut bytes = 0;
    for (batch, agent) in results.chunks(BATCH).zip((1..=AGENTS).cycle()) {
        let identity = AgentIdentity { location_id: home().id, agent_id: AgentId(agent) };
        let transport = NatsResultTransport::new(connection.clone(), identity);
        let encoded: Vec<Vec<u8>> =
            batch.iter().map(|result| transport.encode_result(result).unwrap()).collect();
        bytes += encoded.iter().map(Vec::len).sum::<usize>();
        transport.send_results(encoded, Urgency::Live).await.unwrap();
    }
    bytes
}

/// Publishes each result in a message of its own; returns how many a second, and takes them out of the stream again.
async fn publish_singly(connection: &NatsConnection, results: &[CheckResult]) -> f64 {
    let started = Instant::now();
    let send = |(number, result)| async move {
        let identity = AgentIdentity { location_id: home().id, agent_id: AgentId(number) };
        let transport = NatsResultTransport::new(connection.clone(), identity);
        let encoded = transport.encode_result(result).unwrap();
        transport.send_results(vec![encoded], Urgency::Live).await.unwrap();
    };
    let sent = futures::stream::iter((1..=AGENTS).cycle().zip(results)).map(send);
    sent.buffer_unordered(SINGLES_AT_ONCE).for_each(|()| async {}).await;
    let per_second = results.len() as f64 / started.elapsed().as_secs_f64();
    let stream = connection.jetstream().get_stream(subjects::RESULTS_STREAM).await.unwrap();
    stream.purge().await.unwrap();
    per_second
}

/// Returns the bytes of all partitions of results and their details, with their indexes.
async fn bytes_of_results(url: &str) -> i64 {
    let mut conn = sqlx::PgConnection::connect(url).await.unwrap();
    let sql = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
               WHERE relkind = 'r' AND relname ~ '^(results|result_details)'";
    sqlx::query_scalar(sql).fetch_one(&mut conn).await.unwrap()
}

/// Counts the results that are reported to agents; ends at `count`.
async fn count_reports(connection: &NatsConnection, count: usize) -> JoinHandle<()> {
    let mut reports = connection.client().subscribe("vigie.committed.*.*").await.unwrap();
    connection.client().flush().await.unwrap();
    tokio::spawn(async move {
        let mut reported = 0;
        while reported < count {
            let report = reports.next().await.unwrap();
            reported += CommittedChecksMessage::from_bytes(&report.payload).unwrap().check_ids.len();
        }
    })
}

async fn message_count(connection: &NatsConnection, stream: &str) -> u64 {
    match connection.jetstream().get_stream(stream).await {
        Ok(stream) => stream.cached_info().state.messages,
        Err(_) => 0,
    }
}

async fn wait_until(mut is_true: impl AsyncFnMut() -> bool) {
    while !is_true().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The bus of a control plane.
struct ControlPlane {
    task: JoinHandle<()>,
    _bus: NatsBus,
}

impl ControlPlane {
    async fn start(connection: &NatsConnection, source: &Arc<Assignments>, ingestor: &Arc<Ingestor>) -> Self {
        let dependencies = NatsBusDependencies {
            connection: connection.clone(),
            receiver: ingestor.clone(),
            events: Arc::new(NoEvents),
            clock: Arc::new(SystemClock),
            database_timeline: "bench".to_owned(),
            may_publish: Arc::new(|| true),
        };
        let (bus, mut task) = NatsBus::new(dependencies, TaskHeartbeat::unwatched(TaskName::Bus));
        let source: Arc<dyn SnapshotSource> = source.clone();
        bus.set_snapshot_source(Arc::downgrade(&source));
        let connected = ConnectedLocation { location: home(), can_verify: false };
        bus.set_locations(vec![RemoteLocation { connected, sealer: Arc::new(NoSecrets) }]);
        Self { task: tokio::spawn(async move { task.run().await }), _bus: bus }
    }

    async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// Everything that the location checks.
struct Assignments(Vec<AssignmentUpdate>);

impl SnapshotSource for Assignments {
    fn snapshot(&self, _: LocationId) -> BusFuture<'_, Vec<AssignmentUpdate>> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

/// The monitors have no secrets.
struct NoSecrets;

impl Sealer for NoSecrets {
    fn seal(&self, _: SealContext, _: i64, plain: &[u8]) -> Vec<u8> {
        plain.to_vec()
    }

    fn open(&self, _: SealContext, _: i64, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(sealed.to_vec()))
    }

    fn sealing_key(&self, _: &[u8]) -> u32 {
        1
    }
}

/// A refused result fails the bench.
struct NoEvents;

impl BusEventSink for NoEvents {
    fn record(&self, event: BusEvent) {
        panic!("unexpected event: {event:?}");
    }
}
