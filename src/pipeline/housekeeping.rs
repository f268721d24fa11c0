//! Housekeeping jobs: rollups and removal of expired logins each hour, retention once a day.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::clock::Clock;
use crate::domain::Timestamp;
use crate::store::{Housekeeping, Retention, StoreError, StoreFuture};
use crate::telemetry::{Metrics, TaskHeartbeat, TaskName, TaskRegistry, fault_point};

/// Minutes past the hour at which the previous hour is rolled up: by then its last results have arrived. Later
/// results are included an hour later.
const ROLL_UP_MINUTE: u32 = 5;
/// Minutes past the hour at which what logins leave is removed, away from the rollups.
const LOGIN_PURGE_MINUTE: u32 = 35;

/// When reports of hosts are rolled up: every minute.
const HOST_ROLL_UP_CRON: &str = "20 * * * * *";

/// Times at which the scheduler shows that it works, and the time between two of them.
const HEARTBEAT_CRON: (&str, Duration) = ("*/5 * * * * *", Duration::from_secs(5));

/// Time of day at which retention runs, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
}

/// Removes what logins leave and has expired: tokens, sessions and counters of the login throttle.
pub trait ExpiredLoginPurger: Send + Sync + 'static {
    /// Removes them; returns how many there were.
    fn purge_expired_logins(&self) -> StoreFuture<'_, u64>;
}

/// Runs housekeeping jobs.
#[derive(Clone)]
pub struct HousekeepingRunner {
    /// The store to maintain.
    pub housekeeping_store: Arc<dyn Housekeeping>,
    /// Counts runs and failures.
    pub metrics: Arc<Metrics>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// How long data is kept.
    pub retention: Retention,
    /// Removes what logins leave; without it there is no [`HousekeepingJob::PurgeExpiredLogins`].
    pub login_purger: Option<Arc<dyn ExpiredLoginPurger>>,
    /// Watches the jobs; `None` outside of the server.
    pub task_registry: Option<Arc<TaskRegistry>>,
}

/// Runs the housekeeping jobs at their times.
pub struct HousekeepingScheduler {
    scheduler: JobScheduler,
    heartbeat: TaskHeartbeat,
}

/// A housekeeping job. A job that is still running is not started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HousekeepingJob {
    /// Rolls up ended hours and days.
    RollUp,
    /// Rolls up ended blocks and hours of the reports of hosts.
    RollUpHosts,
    /// Removes data older than its retention.
    ApplyRetention,
    /// Removes expired tokens, sessions and counters of the login throttle.
    PurgeExpiredLogins,
}

impl HousekeepingJob {
    /// Every job.
    pub const ALL: [Self; 4] =
        [Self::RollUp, Self::RollUpHosts, Self::ApplyRetention, Self::PurgeExpiredLogins];

    /// Returns the stable name for metrics and logs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::RollUp => "roll_up",
            Self::RollUpHosts => "roll_up_hosts",
            Self::ApplyRetention => "retain",
            Self::PurgeExpiredLogins => "purge",
        }
    }
}

impl HousekeepingRunner {
    /// Runs one job now; returns how many rows it wrote or removed.
    ///
    /// # Errors
    /// Fails when the store does; the error is counted and logged here.
    pub async fn run_job(&self, job: HousekeepingJob) -> Result<u64, StoreError> {
        let started = Instant::now();
        let now = self.clock.now();
        let job_result = match fault_point("housekeeping").await {
            Ok(()) => self.change_store(job, now).await,
            Err(error) => Err(error),
        };
        let duration_s = started.elapsed().as_secs_f64();
        match &job_result {
            // It runs every minute.
            Ok(rows) if job == HousekeepingJob::RollUpHosts => {
                tracing::debug!(job = job.label(), rows, duration_s, "housekeeping done");
            }
            Ok(rows) => tracing::info!(job = job.label(), rows, duration_s, "housekeeping done"),
            Err(error) => tracing::error!(
                job = job.label(),
                error_kind = error.kind(),
                duration_s,
                "housekeeping failed, next attempt as scheduled: {error}"
            ),
        }
        self.metrics.record_housekeeping_run(job.label(), if job_result.is_ok() { "done" } else { "failed" });
        job_result
    }

    /// Does the work of `job`; returns how many rows it wrote or removed.
    async fn change_store(&self, job: HousekeepingJob, now: Timestamp) -> Result<u64, StoreError> {
        match job {
            HousekeepingJob::RollUp => self.housekeeping_store.roll_up(now).await,
            HousekeepingJob::RollUpHosts => self.housekeeping_store.roll_up_hosts(now).await,
            HousekeepingJob::ApplyRetention => {
                self.housekeeping_store.apply_retention(self.retention.clone(), now).await
            }
            HousekeepingJob::PurgeExpiredLogins => match &self.login_purger {
                Some(purger) => purger.purge_expired_logins().await,
                None => Ok(0),
            },
        }
    }

    /// Runs one job now. A panic is counted as a failure; the next run is as scheduled.
    pub async fn run_and_catch_panics(&self, job: HousekeepingJob, heartbeat: &TaskHeartbeat) {
        let run = AssertUnwindSafe(heartbeat.watch(self.run_job(job)));
        if run.catch_unwind().await.is_err() {
            heartbeat.record_panic();
            heartbeat.mark_idle();
            self.metrics.record_housekeeping_run(job.label(), "failed");
            tracing::error!(job = job.label(), "housekeeping panicked, next attempt as scheduled");
        }
    }

    /// Creates a heartbeat that the task registry watches, if there is one.
    fn heartbeat(&self) -> TaskHeartbeat {
        let unwatched = || TaskHeartbeat::unwatched(TaskName::Housekeeping);
        self.task_registry
            .as_ref()
            .map_or_else(unwatched, |task_registry| task_registry.register(TaskName::Housekeeping))
    }

    /// Creates a job without work, whose runs show that the scheduler works.
    fn new_heartbeat_job(heartbeat: TaskHeartbeat) -> Result<Job, JobSchedulerError> {
        let (cron, interval) = HEARTBEAT_CRON;
        heartbeat.mark_idle_for(interval);
        Job::new(cron, move |_, _| heartbeat.mark_idle_for(interval))
    }

    /// Creates the scheduled form of `job`; a start during its last run is skipped and counted.
    fn new_cron_job(&self, cron: &str, job: HousekeepingJob) -> Result<Job, JobSchedulerError> {
        let runner = self.clone();
        let (is_running, heartbeat) = (Arc::new(AtomicBool::new(false)), self.heartbeat());
        Job::new_async(cron, move |_, _| {
            let (runner, is_running) = (runner.clone(), Arc::clone(&is_running));
            let heartbeat = heartbeat.clone();
            Box::pin(async move {
                if is_running.swap(true, Ordering::AcqRel) {
                    runner.metrics.record_housekeeping_run(job.label(), "skipped");
                    tracing::warn!(job = job.label(), "job skipped: its last run is still in progress");
                    return;
                }
                runner.run_and_catch_panics(job, &heartbeat).await;
                is_running.store(false, Ordering::Release);
            })
        })
    }
}

impl HousekeepingScheduler {
    /// Starts the jobs: rollups five minutes after each hour, the removal of expired logins half an hour later,
    /// retention daily at `retention_time`. The first rollup catches up on the time that the process was down.
    ///
    /// # Errors
    /// Fails when `retention_time` is not a valid time of day.
    pub async fn start(
        runner: HousekeepingRunner,
        retention_time: TimeOfDay,
    ) -> Result<Self, JobSchedulerError> {
        runner.metrics.create_housekeeping_series(HousekeepingJob::ALL.map(HousekeepingJob::label));
        let scheduler = JobScheduler::new().await?;
        scheduler
            .add(runner.new_cron_job(&format!("0 {ROLL_UP_MINUTE} * * * *"), HousekeepingJob::RollUp)?)
            .await?;
        scheduler.add(runner.new_cron_job(HOST_ROLL_UP_CRON, HousekeepingJob::RollUpHosts)?).await?;
        if runner.login_purger.is_some() {
            scheduler
                .add(runner.new_cron_job(
                    &format!("0 {LOGIN_PURGE_MINUTE} * * * *"),
                    HousekeepingJob::PurgeExpiredLogins,
                )?)
                .await?;
        }
        let retention_cron = format!("0 {} {} * * *", retention_time.minute, retention_time.hour);
        scheduler.add(runner.new_cron_job(&retention_cron, HousekeepingJob::ApplyRetention)?).await?;
        let heartbeat = runner.heartbeat();
        scheduler.add(HousekeepingRunner::new_heartbeat_job(heartbeat.clone())?).await?;
        scheduler.start().await?;
        Ok(Self { scheduler, heartbeat })
    }

    /// Stops the scheduler; no further job is started.
    ///
    /// # Errors
    /// Fails when the scheduler was stopped already.
    pub async fn stop(mut self) -> Result<(), JobSchedulerError> {
        self.heartbeat.mark_idle();
        self.scheduler.shutdown().await
    }
}
