//! What follows a calendar: rollups and the end of tokens each hour, retention once a day.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::clock::Clock;
use crate::store::{Housekeeping, Retention, StoreError, StoreFuture};
use crate::telemetry::Metrics;

/// Minutes after the full hour at which it is rolled up: by then its last results are in. Later ones
/// are taken up an hour on.
const ROLL_UP_MINUTE: u32 = 5;
/// When expired tokens and sessions are removed in each hour: not when rollups want the store.
const PURGE_MINUTE: u32 = 35;

/// When retention runs, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
}

/// Removes the tokens and sessions that have expired.
pub trait TokenPurge: Send + Sync + 'static {
    /// Removes them; returns how many there were.
    fn purge_tokens(&self) -> StoreFuture<'_, u64>;
}

/// What the jobs need.
#[derive(Clone)]
pub struct HousekeepingRunner {
    /// Whose data.
    pub store: Arc<dyn Housekeeping>,
    /// Counts runs and failures.
    pub metrics: Arc<Metrics>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How long data is kept.
    pub retention: Retention,
    /// Whose tokens end; without it there is no [`HousekeepingJob::Purge`].
    pub accounts: Option<Arc<dyn TokenPurge>>,
}

/// The calendar jobs that are running.
pub struct HousekeepingScheduler {
    scheduler: JobScheduler,
}

/// One of the jobs. While one is still at work its next turn is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HousekeepingJob {
    /// Rollups of the hours and days that ended.
    RollUp,
    /// Removal of what has outlived its time.
    ApplyRetention,
    /// Removal of tokens and sessions that expired.
    Purge,
}

impl HousekeepingJob {
    /// The stable word, used by metrics and logs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::RollUp => "roll_up",
            Self::ApplyRetention => "retain",
            Self::Purge => "purge",
        }
    }
}

impl HousekeepingRunner {
    /// Does one job now; answers how many rows it wrote or removed.
    ///
    /// # Errors
    /// As the store's; counted and logged here.
    pub async fn run_job(&self, chore: HousekeepingJob) -> Result<u64, StoreError> {
        let started = Instant::now();
        let now = self.clock.now();
        let outcome = match chore {
            HousekeepingJob::RollUp => self.store.roll_up(now).await,
            HousekeepingJob::ApplyRetention => self.store.retain(self.retention.clone(), now).await,
            HousekeepingJob::Purge => match &self.accounts {
                Some(accounts) => accounts.purge_tokens().await,
                None => Ok(0),
            },
        };
        let duration_s = started.elapsed().as_secs_f64();
        match &outcome {
            Ok(rows) => tracing::info!(job = chore.label(), rows, duration_s, "housekeeping done"),
            Err(error) => tracing::error!(
                job = chore.label(),
                error_kind = error.kind(),
                duration_s,
                "housekeeping failed, next try at its next turn: {error}"
            ),
        }
        self.metrics.record_job(chore.label(), if outcome.is_ok() { "done" } else { "failed" });
        outcome
    }

    fn cron_job(&self, cron: &str, chore: HousekeepingJob) -> Result<Job, JobSchedulerError> {
        let household = self.clone();
        let busy = Arc::new(AtomicBool::new(false));
        Job::new_async(cron, move |_, _| {
            let (household, busy) = (household.clone(), Arc::clone(&busy));
            Box::pin(async move {
                if busy.swap(true, Ordering::AcqRel) {
                    household.metrics.record_job(chore.label(), "skipped");
                    tracing::warn!(job = chore.label(), "job skipped: its last run is still in progress");
                    return;
                }
                // Told and counted inside.
                let _ = household.run_job(chore).await;
                busy.store(false, Ordering::Release);
            })
        })
    }
}

impl HousekeepingScheduler {
    /// Starts the calendar: rollups five minutes after each hour, the removal of expired tokens half an hour
    /// later, retention daily at `at`. What came
    /// due while the process was away is caught up by the first rollup.
    ///
    /// # Errors
    /// When `at` is no time of day.
    pub async fn start(household: HousekeepingRunner, at: TimeOfDay) -> Result<Self, JobSchedulerError> {
        let scheduler = JobScheduler::new().await?;
        scheduler
            .add(household.cron_job(&format!("0 {ROLL_UP_MINUTE} * * * *"), HousekeepingJob::RollUp)?)
            .await?;
        if household.accounts.is_some() {
            scheduler
                .add(household.cron_job(&format!("0 {PURGE_MINUTE} * * * *"), HousekeepingJob::Purge)?)
                .await?;
        }
        let daily = format!("0 {} {} * * *", at.minute, at.hour);
        scheduler.add(household.cron_job(&daily, HousekeepingJob::ApplyRetention)?).await?;
        scheduler.start().await?;
        Ok(Self { scheduler })
    }

    /// Starts no more jobs.
    ///
    /// # Errors
    /// When the calendar was stopped already.
    pub async fn stop(mut self) -> Result<(), JobSchedulerError> {
        self.scheduler.shutdown().await
    }
}
