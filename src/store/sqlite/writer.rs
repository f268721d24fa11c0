//! The writing thread. Queued jobs share one transaction and its flush to disk; each caller gets its response after the
//! commit.

use crate::sync::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::store::contract::StoreError;
use crate::telemetry::{TaskHeartbeat, TaskName, blocking_fault_point, panic_message};

use super::error::ErrorMapper;
use super::open::ProcessLock;
use super::settings::SqliteSettings;
use super::write_cache::WriteCache;

/// Resources of a job within the transaction.
pub(super) struct WriteContext<'a> {
    pub(super) conn: &'a Connection,
    pub(super) cache: &'a mut WriteCache,
}

/// A write. It may run twice: in a shared transaction, and alone after that one failed.
trait WriteJob: Send {
    /// Writes, and keeps the value for the reply.
    fn run(&mut self, context: &mut WriteContext<'_>) -> rusqlite::Result<()>;
    /// Sends the kept value to the caller, or the error of the transaction.
    fn reply(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// A call of [`Writer::call`]; `value` is what the last run of `work` returned.
struct WriteCall<F, T> {
    work: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> WriteJob for WriteCall<F, T>
where
    F: FnMut(&mut WriteContext<'_>) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn run(&mut self, context: &mut WriteContext<'_>) -> rusqlite::Result<()> {
        self.value = Some((self.work)(context)?);
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { value, reply, .. } = *self;
        // Fails only when the caller no longer waits.
        let _ = reply.send(outcome.and_then(|()| value.ok_or(StoreError::Closed)));
    }
}

/// Handle of the writing thread.
pub(super) struct Writer {
    job_sender: Mutex<Option<mpsc::Sender<Box<dyn WriteJob>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the thread. It holds `lock` until the last job is done and the file is closed.
    pub(super) fn start(
        conn: Connection,
        lock: ProcessLock,
        settings: &SqliteSettings,
        error_mapper: ErrorMapper,
    ) -> Result<Self, StoreError> {
        let (sender, jobs) = mpsc::channel(settings.queue_capacity.max(1));
        let limits =
            BatchLimits { max_jobs: settings.max_batch_jobs.max(1), max_duration: settings.max_batch_time };
        let (spawn_error_mapper, heartbeat) =
            (error_mapper.clone(), settings.register_heartbeat(TaskName::StoreWriter));
        let thread = std::thread::Builder::new()
            .name("vigie-store".to_owned())
            .spawn(move || {
                WriterThread { conn, cache: WriteCache::default(), error_mapper, limits, heartbeat }
                    .run(jobs);
                drop(lock);
            })
            .map_err(|e| spawn_error_mapper.io_to_store_error("cannot start the writing thread", &e))?;
        Ok(Self { job_sender: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Runs `work` in a transaction; returns once that is committed.
    pub(super) async fn call<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteContext<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let sender = self.sender().ok_or(StoreError::Closed)?;
        let (reply, response) = oneshot::channel();
        let call = Box::new(WriteCall { work, value: None, reply });
        sender.send(call).await.map_err(|_| StoreError::Closed)?;
        drop(sender);
        response.await.map_err(|_| StoreError::Closed)?
    }

    /// Stops accepting jobs; the thread ends after the queued ones. Returns its handle, once.
    pub(super) fn close(&self) -> Option<JoinHandle<()>> {
        drop(self.job_sender.lock().take());
        self.thread.lock().take()
    }

    fn sender(&self) -> Option<mpsc::Sender<Box<dyn WriteJob>>> {
        self.job_sender.lock().clone()
    }
}

/// Limits of the jobs that share a transaction; `max_duration` is the time in which it accepts further ones.
struct BatchLimits {
    max_jobs: usize,
    max_duration: Duration,
}

struct WriterThread {
    conn: Connection,
    cache: WriteCache,
    error_mapper: ErrorMapper,
    limits: BatchLimits,
    heartbeat: TaskHeartbeat,
}

impl WriterThread {
    fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn WriteJob>>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut batch = vec![first];
            let outcome = self.run_in_transaction(&mut batch, Some(&mut jobs));
            self.reply_all(batch, outcome);
            self.heartbeat.mark_idle();
        }
        // An error is harmless: the next start recovers the log too.
        let _ = self.conn.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// Runs `batch`, and further jobs of `job_queue` up to the limits, in one transaction. A panic is an error.
    fn run_in_transaction(
        &mut self,
        batch: &mut Vec<Box<dyn WriteJob>>,
        job_queue: Option<&mut mpsc::Receiver<Box<dyn WriteJob>>>,
    ) -> Result<(), StoreError> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.run_jobs(batch, job_queue)));
        let outcome = outcome.unwrap_or_else(|payload| {
            self.heartbeat.record_panic();
            Err(StoreError::Panicked(panic_message(payload.as_ref()).to_owned()))
        });
        if outcome.is_err() {
            self.cache.clear();
            if !self.conn.is_autocommit() {
                let _ = self.conn.execute_batch("ROLLBACK");
            }
        }
        outcome
    }

    /// Runs the jobs between BEGIN and COMMIT, and further ones, which it moves from `job_queue` to `batch`.
    fn run_jobs(
        &mut self,
        batch: &mut Vec<Box<dyn WriteJob>>,
        mut job_queue: Option<&mut mpsc::Receiver<Box<dyn WriteJob>>>,
    ) -> Result<(), StoreError> {
        let started_at = Instant::now();
        self.heartbeat.beat();
        blocking_fault_point("store_writer")?;
        let outcome = (|| {
            self.conn.execute_batch("BEGIN IMMEDIATE")?;
            let mut jobs_run = 0;
            while let Some(job) = batch.get_mut(jobs_run) {
                self.heartbeat.beat();
                job.run(&mut WriteContext { conn: &self.conn, cache: &mut self.cache })?;
                jobs_run += 1;
                let has_room =
                    jobs_run < self.limits.max_jobs && started_at.elapsed() < self.limits.max_duration;
                // Receives only when there is room, since a received job must be run.
                if has_room && let Some(next) = job_queue.as_mut().and_then(|jobs| jobs.try_recv().ok()) {
                    batch.push(next);
                }
            }
            self.heartbeat.beat();
            self.conn.execute_batch("COMMIT")
        })();
        outcome.map_err(|error| self.error_mapper.to_store_error(&error))
    }

    /// Replies to the callers. When a shared transaction failed for a reason that may concern a single job, each job
    /// gets its own transaction, so that a large job does not fail a small one.
    fn reply_all(&mut self, batch: Vec<Box<dyn WriteJob>>, outcome: Result<(), StoreError>) {
        match outcome {
            Ok(()) => batch.into_iter().for_each(|job| job.reply(Ok(()))),
            Err(error) if batch.len() == 1 || matches!(error, StoreError::Locked(_)) => {
                for job in batch {
                    job.reply(Err(error.clone()));
                }
            }
            Err(_) => {
                for job in batch {
                    let mut single_job = vec![job];
                    let outcome = self.run_in_transaction(&mut single_job, None);
                    self.reply_all(single_job, outcome);
                }
            }
        }
    }
}
