//! SQLite behind the traits of the store: one thread that writes, a few that read, one file in WAL mode.

mod alarms;
mod audit;
mod captures;
mod change;
mod counts;
mod decode;
mod error;
mod ingest;
mod ledger;
mod monitors;
mod open;
mod reader;
mod readers;
mod records;
mod results;
mod retain;
mod rollup;
mod row;
mod samples;
mod schema;
mod shared;
mod tokens;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use reader::SqliteReader;
pub use rollup::SKETCH_ERROR;

use crate::domain::{Capture, CheckId, CheckResult, CustomerId, MonitorId, Revision, Timestamp};
use crate::schema::Monitor;

use super::{
    Answer, Commit, Entries, Housekeeping, Ingest, MonitorState, Monitors, Page, ResultFilter, ResultPage,
    Results, Retention, Rollup, Span, StoreError,
};
use error::Told;
use open::Lock;
use readers::Readers;
use writer::Writer;

/// When a commit counts as kept. A killed process loses nothing at either level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// A power cut may lose the commits of the last seconds; the file stays whole.
    Normal,
    /// A power cut loses nothing that was acknowledged. The default: the minutes before a power cut are
    /// those that somebody will look for, and it costs little, since up to 5,000 results share one flush.
    #[default]
    Full,
}

/// How the database is used.
#[derive(Clone, Debug)]
pub struct SqliteSettings {
    /// When a commit counts as kept.
    pub synchronous: Synchronous,
    /// Threads that read, each with a connection.
    pub readers: usize,
    /// How long a query may take.
    pub query_timeout: Duration,
    /// How long to wait for another program that holds the file.
    pub busy_timeout: Duration,
    /// Calls that may wait for the writing or a reading thread; more wait outside.
    pub queue: usize,
    /// Calls that share one transaction at most.
    pub batch_jobs: usize,
    /// How long a transaction takes in more calls at most. It never waits for them.
    pub batch_time: Duration,
    /// Bytes of pages that the writing thread keeps in memory at most. It fills as the file grows.
    pub cache_bytes: u64,
    /// Largest size of the file; `None` for as large as the disk. Beyond it, commits fail as on a full disk.
    pub max_bytes: Option<u64>,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::default(),
            readers: 4,
            query_timeout: Duration::from_secs(30),
            busy_timeout: Duration::from_secs(5),
            queue: 256,
            batch_jobs: 256,
            batch_time: Duration::from_millis(50),
            cache_bytes: 64 * 1024 * 1024,
            max_bytes: None,
        }
    }
}

/// The store in one SQLite file. Dropping it writes what it was given and closes the file, as
/// [`SqliteStore::close`] does.
pub struct SqliteStore {
    path: PathBuf,
    writer: Writer,
    readers: Readers,
}

impl SqliteStore {
    /// Opens the database at `path`; makes it, and its folder, when there is none. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it open, [`StoreError::TooNew`] for a file of a
    /// newer Vigie, [`StoreError::Unusable`] when it is damaged or may not be written,
    /// [`StoreError::Full`] when there is no room to make it.
    pub fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, StoreError> {
        let told = Told::about(path);
        let lock = open::lock(path, &told)?;
        let conn = open::writer(path, settings, &told)?;
        let readers = Readers::start(path, settings, &told)?;
        let writer = Writer::start(conn, lock, settings, told)?;
        Ok(Self { path: path.to_owned(), writer, readers })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes no more calls, finishes those that it has and closes the file. Later calls answer
    /// [`StoreError::Closed`].
    pub async fn close(&self) {
        let threads = self.stop();
        // Fails only when the runtime is going down; the threads end by themselves then.
        let _ = tokio::task::spawn_blocking(|| join(threads)).await;
    }

    fn stop(&self) -> Vec<std::thread::JoinHandle<()>> {
        let mut threads = self.readers.stop();
        threads.extend(self.writer.stop());
        threads
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        join(self.stop());
    }
}

fn join(threads: Vec<std::thread::JoinHandle<()>>) {
    for thread in threads {
        if thread.join().is_err() {
            tracing::error!("a thread of the store ended by a defect");
        }
    }
}

impl Ingest for SqliteStore {
    fn commit(&self, commit: Commit) -> Answer<'_, ()> {
        Box::pin(async move {
            let batch = ready(commit).await?;
            self.writer.call(move |writing| batch.write(writing)).await
        })
    }
}

/// `commit`, ready to be written. Files are compressed apart from the threads that wait for targets.
async fn ready(commit: Commit) -> Result<ingest::Batch, StoreError> {
    let files = commit.results.iter().any(|result| !result.captures.is_empty());
    if !files && commit.alarm.evidence.is_empty() {
        return Ok(ingest::Batch::of(commit));
    }
    // Fails only when the runtime goes down.
    tokio::task::spawn_blocking(move || ingest::Batch::of(commit)).await.map_err(|_| StoreError::Closed)
}

impl Monitors for SqliteStore {
    fn monitors(&self) -> Answer<'_, Vec<Monitor>> {
        Box::pin(self.readers.call(monitors::all))
    }

    fn ids_for(&self, customer: CustomerId, keys: Vec<String>) -> Answer<'_, Vec<MonitorId>> {
        Box::pin(self.writer.call(move |writing| monitors::ids(writing.conn, customer.0, &keys)))
    }

    fn last_revisions(&self, ids: Vec<MonitorId>) -> Answer<'_, Vec<Revision>> {
        Box::pin(self.readers.call(move |conn| monitors::last_revisions(conn, &ids)))
    }

    fn change(&self, puts: Vec<Monitor>, removed: Vec<MonitorId>, entries: Entries) -> Answer<'_, ()> {
        Box::pin(async move {
            let puts: Vec<_> = puts.iter().map(monitors::Put::of).collect();
            let change = move |writing: &mut writer::Writing<'_>| {
                monitors::change(writing.conn, &puts, &removed)?;
                audit::keep_all(writing.conn, &entries)
            };
            self.writer.call(change).await
        })
    }
}

impl Results for SqliteStore {
    fn results(&self, filter: ResultFilter, page: Page) -> Answer<'_, ResultPage> {
        Box::pin(self.readers.call(move |conn| results::page(conn, &filter, page)))
    }

    fn result(&self, id: CheckId) -> Answer<'_, Option<CheckResult>> {
        Box::pin(self.readers.call(move |conn| results::by_id(&conn.unchecked_transaction()?, id)))
    }

    fn capture(&self, id: CheckId, name: String) -> Answer<'_, Option<Capture>> {
        Box::pin(self.readers.call(move |conn| results::capture(conn, id, &name)))
    }

    fn states_of(&self, monitors: Vec<MonitorId>) -> Answer<'_, Vec<MonitorState>> {
        Box::pin(self.readers.call(move |conn| results::states_of(conn, &monitors)))
    }

    fn results_behind(&self, states: Vec<MonitorState>) -> Answer<'_, Vec<Option<CheckResult>>> {
        Box::pin(self.readers.call(move |conn| results::behind(conn, &states)))
    }

    fn states(&self) -> Answer<'_, Vec<MonitorState>> {
        Box::pin(self.readers.call(results::states))
    }

    fn rollups(
        &self,
        monitor: MonitorId,
        span: Span,
        from: Timestamp,
        thru: Timestamp,
    ) -> Answer<'_, Vec<Rollup>> {
        Box::pin(self.readers.call(move |conn| rollup::read(conn, monitor, span, from, thru)))
    }
}

impl Housekeeping for SqliteStore {
    fn roll_up(&self, now: Timestamp) -> Answer<'_, u64> {
        Box::pin(rollup::roll_up(self, now))
    }

    fn retain(&self, retention: Retention, now: Timestamp) -> Answer<'_, u64> {
        Box::pin(retain::retain(self, retention, now))
    }
}
