//! Results into PostgreSQL, from `submit` to the commit with details, states and alert decisions, and pages of ten
//! million results. Starts a server of its own, which waits for its disk. `cargo bench --bench postgres`; with `--
//! --quick` fewer results.
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

use nix::sys::resource::UsageWho;
use vigie::domain::{CheckResult, CustomerId, Facts, MonitorId, Outcome, Status, Timestamp};
use vigie::pipeline::{IngestSettings, Ingestor};
use vigie::store::{IngestBatch, Pagination, PostgresStore, ResultFilter, Store};
use vigie::telemetry::Metrics;

use cpu::cpu;
use results::{MONITORS, START, enable_alerting, https, monitor, move_to_slots, result};
use support::postgres::PostgresServer;

/// Times each page is read.
const READS: usize = 400;

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = PostgresServer::start_with(&["-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB"]);
        let result_count = if is_quick { 100_000 } else { 400_000 };
        for (kind, facts) in [("tcp", Facts::default()), ("https", https())] {
            for with_alerts in [false, true] {
                measure_ingest(&server, kind, &facts, result_count, with_alerts).await;
            }
        }
        measure_pages(&server, if is_quick { 10 } else { 100 }).await;
    });
}

async fn connect(server: &PostgresServer) -> (String, Arc<dyn Store>) {
    let name = server.create_database().await;
    let store = PostgresStore::connect(&server.settings(&name)).await.unwrap();
    (name, Arc::new(store))
}

async fn measure_ingest(
    server: &PostgresServer,
    kind: &str,
    facts: &Facts,
    result_count: i64,
    with_alerts: bool,
) {
    let (name, store) = connect(server).await;
    store
        .apply_monitors((1..=MONITORS).map(monitor).collect(), Vec::new(), Box::new(|_| None))
        .await
        .unwrap();
    let mut results: Vec<CheckResult> = (0..result_count).map(|n| result(n, facts)).collect();
    let ingestor =
        Ingestor::start(store.clone(), Arc::new(Metrics::new()), Vec::new(), IngestSettings::default());
    if with_alerts {
        results = move_to_slots(results);
        enable_alerting(&ingestor, &store).await;
    }
    let (vigie_cpu, server_cpu) = (cpu(UsageWho::RUSAGE_SELF), server.cpu_time());
    let started = Instant::now();
    for result in results {
        ingestor.submit(result).await;
    }
    assert_eq!(ingestor.drain(Duration::from_mins(10)).await, 0);
    let elapsed = started.elapsed();
    let (vigie_cpu, server_cpu) =
        (cpu(UsageWho::RUSAGE_SELF).saturating_sub(vigie_cpu), server.cpu_time().saturating_sub(server_cpu));
    let stored = store.results(ResultFilter::default(), Pagination { limit: 1, offset: 0 }).await.unwrap();
    assert_eq!(stored.total, result_count.unsigned_abs(), "all are stored");
    let rate = result_count as f64 / elapsed.as_secs_f64();
    let alerts = if with_alerts { "with alert decisions" } else { "without alerts" };
    println!(
        "ingest, {kind}, {alerts}: {rate:.0} results/s; CPU per 1,000 results: vigie {:.1} ms, PostgreSQL {:.1} ms",
        vigie_cpu.as_secs_f64() * 1e6 / result_count as f64,
        server_cpu.as_secs_f64() * 1e6 / result_count as f64,
    );
    store.close().await;
    server.execute("postgres", format!("DROP DATABASE {name} WITH (FORCE)")).await;
}

/// Reads pages of `rounds` times 100,000 results, spread over a week.
async fn measure_pages(server: &PostgresServer, rounds: i64) {
    let (name, store) = connect(server).await;
    store
        .apply_monitors((1..=MONITORS).map(monitor).collect(), Vec::new(), Box::new(|_| None))
        .await
        .unwrap();
    let facts = https();
    for first in (0..MONITORS).step_by(5000) {
        let mut results: Vec<_> = (first..first + 5000).map(|n| result(n, &facts)).collect();
        for failed in results.iter_mut().step_by(50) {
            failed.outcome = Outcome::Error;
            failed.status = Status::TIMED_OUT;
            failed.status_text = Status::TIMED_OUT.text().into();
        }
        store.commit(IngestBatch { results, ..IngestBatch::default() }).await.unwrap();
    }
    let step_us = 7 * 86_400_000_000 / rounds;
    // A result per day makes its partition.
    let days = (0..8).map(|day| result(MONITORS + day * 1440 * MONITORS, &facts)).collect();
    store.commit(IngestBatch { results: days, ..IngestBatch::default() }).await.unwrap();
    for (table, column) in
        [("results", "planned_at"), ("result_details", "planned_at"), ("result_counts", "minute")]
    {
        server.multiply(&name, table, column, START + 60_000_000, step_us, rounds).await;
    }
    server.execute(&name, "ANALYZE".to_owned()).await;
    let total =
        store.results(ResultFilter::default(), Pagination { limit: 1, offset: 0 }).await.unwrap().total;
    let at = |round: i64| Timestamp::from_micros(START + round * step_us);
    let filters = [
        ("of all monitors", ResultFilter::default(), 0),
        ("of one monitor", ResultFilter { monitors: vec![MonitorId(7)], ..ResultFilter::default() }, 0),
        (
            "errors of all monitors",
            ResultFilter { outcomes: vec![Outcome::Error], ..ResultFilter::default() },
            0,
        ),
        ("of an account", ResultFilter { customer: Some(CustomerId(1)), ..ResultFilter::default() }, 0),
        (
            "of an hour in the middle",
            ResultFilter {
                from: Some(at(rounds / 2)),
                until: Some(at(rounds / 2) + Duration::from_hours(1)),
                ..ResultFilter::default()
            },
            0,
        ),
        ("of all monitors, page 100", ResultFilter::default(), 10_000),
    ];
    for (what, filter, offset) in filters {
        let mut times = Vec::with_capacity(READS);
        for _ in 0..READS {
            let started = Instant::now();
            let page = store.results(filter.clone(), Pagination { limit: 100, offset }).await.unwrap();
            assert!(!page.results.is_empty(), "{what}");
            times.push(started.elapsed());
        }
        times.sort_unstable();
        println!(
            "page of 100 of {total} results, {what}: p50 {:.1} ms, p99 {:.1} ms",
            times[READS / 2].as_secs_f64() * 1e3,
            times[READS * 99 / 100].as_secs_f64() * 1e3,
        );
    }
    store.close().await;
}
