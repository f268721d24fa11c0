//! The one thread that writes. Jobs that wait are taken into one transaction, so that they share its
//! flush to disk; each caller is answered after the commit.

use crate::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::store::contract::StoreError;

use super::error::Told;
use super::open::Lock;
use super::settings::SqliteSettings;
use super::shared::Shared;

/// What a job may use inside of the transaction.
pub(super) struct Writing<'a> {
    pub(super) conn: &'a Connection,
    pub(super) shared: &'a mut Shared,
}

/// A piece of writing. It may run twice: with others, and alone when the common transaction failed.
trait Job: Send {
    fn run(&mut self, writing: &mut Writing<'_>) -> rusqlite::Result<()>;
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct Call<F, T> {
    work: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for Call<F, T>
where
    F: FnMut(&mut Writing<'_>) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn run(&mut self, writing: &mut Writing<'_>) -> rusqlite::Result<()> {
        self.value = Some((self.work)(writing)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { value, reply, .. } = *self;
        // A caller that went away does not want to know.
        let _ = reply.send(outcome.and_then(|()| value.ok_or(StoreError::Closed)));
    }
}

/// The door to the writing thread.
pub(super) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the thread. It holds `lock` until the last job is done and the file is closed.
    pub(super) fn start(
        conn: Connection,
        lock: Lock,
        settings: &SqliteSettings,
        told: Told,
    ) -> Result<Self, StoreError> {
        let (sender, jobs) = mpsc::channel(settings.queue.max(1));
        let limits = Limits { jobs: settings.batch_jobs.max(1), time: settings.batch_time };
        let failed = told.clone();
        let thread = std::thread::Builder::new()
            .name("vigie-store".to_owned())
            .spawn(move || {
                Desk { conn, shared: Shared::default(), told, limits }.work(jobs);
                drop(lock);
            })
            .map_err(|e| failed.of_io("cannot start the writing thread", &e))?;
        Ok(Self { jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Runs `work` in a transaction and answers once that is committed.
    pub(super) async fn call<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Writing<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let sender = self.sender().ok_or(StoreError::Closed)?;
        let (reply, answer) = oneshot::channel();
        let call = Box::new(Call { work, value: None, reply });
        sender.send(call).await.map_err(|_| StoreError::Closed)?;
        drop(sender);
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Takes no more jobs; the thread ends after those that it has. Answers with its handle, once.
    pub(super) fn stop(&self) -> Option<JoinHandle<()>> {
        drop(self.jobs.lock().take());
        self.thread.lock().take()
    }

    fn sender(&self) -> Option<mpsc::Sender<Box<dyn Job>>> {
        self.jobs.lock().clone()
    }
}

struct Limits {
    jobs: usize,
    time: Duration,
}

struct Desk {
    conn: Connection,
    shared: Shared,
    told: Told,
    limits: Limits,
}

impl Desk {
    fn work(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut batch = vec![first];
            let outcome = self.transaction(&mut batch, Some(&mut jobs));
            self.settle(batch, outcome);
        }
        // The log of an unclean end is taken over at the next start as well: no need to complain.
        let _ = self.conn.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// Runs `batch`, and what comes in meanwhile as far as the limits go, in one transaction.
    fn transaction(
        &mut self,
        batch: &mut Vec<Box<dyn Job>>,
        mut more: Option<&mut mpsc::Receiver<Box<dyn Job>>>,
    ) -> rusqlite::Result<()> {
        let began = Instant::now();
        let outcome = (|| {
            self.conn.execute_batch("BEGIN IMMEDIATE")?;
            let mut at = 0;
            while let Some(job) = batch.get_mut(at) {
                job.run(&mut Writing { conn: &self.conn, shared: &mut self.shared })?;
                at += 1;
                let room = at < self.limits.jobs && began.elapsed() < self.limits.time;
                // Looks only when there is room: what is received and not kept is lost.
                if room && let Some(next) = more.as_mut().and_then(|jobs| jobs.try_recv().ok()) {
                    batch.push(next);
                }
            }
            self.conn.execute_batch("COMMIT")
        })();
        if outcome.is_err() {
            self.shared.forget();
            if !self.conn.is_autocommit() {
                let _ = self.conn.execute_batch("ROLLBACK");
            }
        }
        outcome
    }

    /// Answers the callers. When a common transaction failed for a reason that one of them may have
    /// alone, each gets a transaction of its own, so that a large one does not take a small one along.
    fn settle(&mut self, batch: Vec<Box<dyn Job>>, outcome: rusqlite::Result<()>) {
        match outcome.map_err(|e| self.told.of(&e)) {
            Ok(()) => batch.into_iter().for_each(|job| job.answer(Ok(()))),
            Err(error) if batch.len() == 1 || matches!(error, StoreError::Locked(_)) => {
                for job in batch {
                    job.answer(Err(error.clone()));
                }
            }
            Err(_) => {
                for job in batch {
                    let mut alone = vec![job];
                    let outcome = self.transaction(&mut alone, None);
                    self.settle(alone, outcome);
                }
            }
        }
    }
}
