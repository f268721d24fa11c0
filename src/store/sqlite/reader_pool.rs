//! The reading threads, each with its own connection. A query stops when it times out or its caller no longer waits.

use crate::sync::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::store::contract::StoreError;
use crate::telemetry::{TaskHeartbeat, TaskName, blocking_fault_point};

use super::error::ErrorMapper;
use super::open;
use super::settings::SqliteSettings;

type QueryJob = Box<dyn FnOnce(&Connection, &ReaderContext) + Send>;
type QueryQueue = Arc<Mutex<mpsc::Receiver<QueryJob>>>;

/// What the queries of one thread share.
struct ReaderContext {
    error_mapper: ErrorMapper,
    /// Longest duration of a query.
    timeout: Duration,
    heartbeat: TaskHeartbeat,
}

/// Steps of SQLite's virtual machine between two checks of the time.
const TIMEOUT_CHECK_STEPS: i32 = 20_000;

/// Handle of the reading threads.
pub(super) struct ReaderPool {
    query_sender: Mutex<Option<mpsc::Sender<QueryJob>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl ReaderPool {
    /// Starts the threads.
    pub(super) fn start(
        path: &Path,
        settings: &SqliteSettings,
        error_mapper: &ErrorMapper,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel(settings.queue_capacity.max(1));
        let query_queue: QueryQueue = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::new();
        for index in 0..settings.reader_threads.max(1) {
            let conn = open::open_reader(path, settings, error_mapper)?;
            let query_queue = Arc::clone(&query_queue);
            let context = ReaderContext {
                error_mapper: error_mapper.clone(),
                timeout: settings.query_timeout,
                heartbeat: settings.register_heartbeat(TaskName::StoreReader),
            };
            let thread = std::thread::Builder::new()
                .name(format!("vigie-read-{index}"))
                .spawn(move || {
                    while let Some(query) = next_query(&query_queue) {
                        run_catching_panics(query, &conn, &context);
                    }
                })
                .map_err(|e| error_mapper.io_to_store_error("cannot start a reading thread", &e))?;
            threads.push(thread);
        }
        Ok(Self { query_sender: Mutex::new(Some(sender)), threads: Mutex::new(threads) })
    }

    /// Runs `work` on the next free connection.
    ///
    /// # Errors
    /// [`StoreError::QueryTimeout`] when it takes longer than the settings allow.
    pub(super) async fn call<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let sender = self.query_sender.lock().clone().ok_or(StoreError::Closed)?;
        let (reply, response) = oneshot::channel();
        let job: QueryJob = Box::new(move |conn, context| run_query(conn, context, work, reply));
        sender.send(job).await.map_err(|_| StoreError::Closed)?;
        drop(sender);
        // Every query is answered, those of a closed pool too, unless it panics.
        response.await.map_err(|_| StoreError::Panicked("a query".to_owned()))?
    }

    /// Stops accepting queries; returns the threads, which end after the queued queries.
    pub(super) fn close(&self) -> Vec<JoinHandle<()>> {
        drop(self.query_sender.lock().take());
        std::mem::take(&mut *self.threads.lock())
    }
}

fn next_query(query_queue: &QueryQueue) -> Option<QueryJob> {
    query_queue.lock().blocking_recv()
}

/// Runs `query`. A panic ends that query alone.
fn run_catching_panics(query: QueryJob, conn: &Connection, context: &ReaderContext) {
    context.heartbeat.beat();
    let panic_result = catch_unwind(AssertUnwindSafe(|| {
        // A query has no error of its own to return here.
        let _ = blocking_fault_point("store_reader");
        query(conn, context);
    }));
    if panic_result.is_err() {
        context.heartbeat.record_panic();
        // The handler belongs to the query that panicked.
        let _ = conn.progress_handler(0, None::<fn() -> bool>);
    }
    context.heartbeat.mark_idle();
}

fn run_query<T, F>(
    conn: &Connection,
    context: &ReaderContext,
    query: F,
    reply: oneshot::Sender<Result<T, StoreError>>,
) where
    F: FnOnce(&Connection) -> rusqlite::Result<T>,
    T: Send + 'static,
{
    let deadline = Instant::now() + context.timeout;
    let heartbeat = context.heartbeat.clone();
    let reply = Arc::new(reply);
    let reply_for_handler = Arc::clone(&reply);
    let outcome = conn
        .progress_handler(
            TIMEOUT_CHECK_STEPS,
            Some(move || {
                heartbeat.beat();
                Instant::now() > deadline || reply_for_handler.is_closed()
            }),
        )
        .and_then(|()| query(conn));
    // Drops the handler's reference to `reply`.
    let cleared = conn.progress_handler(0, None::<fn() -> bool>);
    let outcome = outcome
        .and_then(|value| cleared.map(|()| value))
        .map_err(|e| context.error_mapper.to_store_error(&e));
    if let Ok(reply) = Arc::try_unwrap(reply) {
        // Fails only when the caller no longer waits.
        let _ = reply.send(outcome);
    }
}
