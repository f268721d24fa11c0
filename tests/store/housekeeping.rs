//! Housekeeping jobs and their schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use vigie::clock::FakeClock;
use vigie::domain::Timestamp;
use vigie::pipeline::{HousekeepingJob, HousekeepingRunner, HousekeepingScheduler, TimeOfDay};
use vigie::store::{Housekeeping, Retention, StoreError, StoreFuture};
use vigie::telemetry::Metrics;

use crate::store::samples::at;

#[derive(Default)]
struct RecordingStore {
    rolled_at: AtomicU64,
    retained: AtomicU64,
    hosts_rolled_at: AtomicU64,
}

impl Housekeeping for RecordingStore {
    fn roll_up(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.rolled_at.store(now.as_micros().unsigned_abs(), Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(3)))
    }

    fn apply_retention(&self, retention: Retention, _: Timestamp) -> StoreFuture<'_, u64> {
        self.retained.store(retention.results.as_secs(), Ordering::Relaxed);
        Box::pin(std::future::ready(Err(StoreError::DiskFull("`vigie.db`".to_owned()))))
    }

    fn roll_up_hosts(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.hosts_rolled_at.store(now.as_micros().unsigned_abs(), Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(5)))
    }
}

fn runner(store: Arc<RecordingStore>) -> (HousekeepingRunner, Arc<Metrics>) {
    let metrics = Arc::new(Metrics::new());
    let day = Duration::from_hours(24);
    let retention = Retention {
        results: day * 30,
        details_ok: day,
        details_failed: day * 7,
        hourly_rollups: day * 90,
        daily_rollups: Some(day * 900),
        audit_entries: day * 900,
    };
    let clock = Arc::new(FakeClock::new(at(77)));
    (
        HousekeepingRunner {
            housekeeping_store: store,
            metrics: metrics.clone(),
            clock,
            retention,
            login_purger: None,
            task_registry: None,
        },
        metrics,
    )
}

#[tokio::test]
async fn a_job_runs_at_the_time_of_the_clock_and_is_counted() {
    let store = Arc::new(RecordingStore::default());
    let (runner, metrics) = runner(store.clone());
    assert_eq!(runner.run_job(HousekeepingJob::RollUp).await, Ok(3));
    assert_eq!(store.rolled_at.load(Ordering::Relaxed), at(77).as_micros().unsigned_abs());
    assert_eq!(runner.run_job(HousekeepingJob::RollUpHosts).await, Ok(5));
    assert_eq!(store.hosts_rolled_at.load(Ordering::Relaxed), at(77).as_micros().unsigned_abs());
    assert!(runner.run_job(HousekeepingJob::ApplyRetention).await.is_err());
    assert_eq!(store.retained.load(Ordering::Relaxed), 30 * 86_400);
    let text = metrics.encode();
    assert!(text.contains(r#"vigie_housekeeping_runs_total{job="roll_up",outcome="done"} 1"#), "{text}");
    assert!(text.contains(r#"vigie_housekeeping_runs_total{job="retain",outcome="failed"} 1"#), "{text}");
}

#[tokio::test]
async fn the_scheduler_starts_and_stops_and_refuses_invalid_times_of_day() {
    let (runner, _) = runner(Arc::default());
    let scheduler =
        HousekeepingScheduler::start(runner.clone(), TimeOfDay { hour: 23, minute: 59 }).await.unwrap();
    scheduler.stop().await.unwrap();
    assert!(HousekeepingScheduler::start(runner, TimeOfDay { hour: 24, minute: 0 }).await.is_err());
}
