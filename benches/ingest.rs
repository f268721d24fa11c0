//! Results into SQLite, from `submit` to the commit, for each synchronous level and kind of result (elements per second
//! are results per second), and reading them back. `cargo bench --bench ingest`.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/results.rs"]
mod results;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vigie::domain::{Facts, MonitorId, Outcome, Status};
use vigie::pipeline::{IngestSettings, Ingestor};
use vigie::store::{
    Ingest, IngestBatch, MonitorStore, Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore,
    Store, Synchronous,
};
use vigie::telemetry::Metrics;

use results::{MONITORS, enable_alerting, https, monitor, move_to_slots, result};

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
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap());
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

criterion_group!(benches, ingest, read);
criterion_main!(benches);
