//! The store in one SQLite file and its threads.

use std::path::{Path, PathBuf};
use std::pin::Pin;

use crate::store::contract::{MonitorChangeLog, Store, StoreError, StoreFuture};

use super::error::ErrorMapper;
use super::open;
use super::reader_pool::ReaderPool;
use super::settings::SqliteSettings;
use super::writer::Writer;

/// The store in one SQLite file. Dropping it finishes queued writes and closes the file, like [`SqliteStore::close`].
pub struct SqliteStore {
    path: PathBuf,
    description: String,
    pub(super) writer: Writer,
    pub(super) readers: ReaderPool,
    /// The monitors whose states changed.
    pub(super) state_changes: MonitorChangeLog,
}

impl SqliteStore {
    /// Opens the database at `path`; creates it and its directory if they do not exist. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it open, [`StoreError::TooNew`] for a file of a newer Vigie,
    /// [`StoreError::Unusable`] when it is damaged or cannot be written, [`StoreError::DiskFull`] when there is no
    /// space to create it.
    pub fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper::new(path);
        let lock = open::acquire_lock(path, &error_mapper)?;
        let conn = open::open_writer(path, settings, &error_mapper)?;
        let readers = ReaderPool::start(path, settings, &error_mapper)?;
        let writer = Writer::start(conn, lock, settings, error_mapper)?;
        Ok(Self {
            path: path.to_owned(),
            description: path.display().to_string(),
            writer,
            readers,
            state_changes: MonitorChangeLog::default(),
        })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stops accepting calls, finishes the queued ones and closes the file. Later calls fail with
    /// [`StoreError::Closed`].
    pub async fn close(&self) {
        // The connection closed last removes the write-ahead log, which only the writing one can. Waiting fails only
        // when the runtime shuts down; the threads then end by themselves.
        let readers = self.readers.close();
        let _ = tokio::task::spawn_blocking(|| join_threads(readers)).await;
        let writer = self.writer.close();
        let _ = tokio::task::spawn_blocking(|| join_threads(writer)).await;
    }
}

impl Store for SqliteStore {
    fn describe(&self) -> &str {
        &self.description
    }

    fn timeline(&self) -> Option<&str> {
        // A file that was put back looks like any other.
        None
    }

    fn has_lost_commits(&self) -> StoreFuture<'_, bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Self::close(self))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The connection closed last removes the write-ahead log, which only the writing one can.
        join_threads(self.readers.close());
        join_threads(self.writer.close());
    }
}

pub(super) fn join_threads(threads: impl IntoIterator<Item = std::thread::JoinHandle<()>>) {
    for thread in threads {
        if thread.join().is_err() {
            tracing::error!("store thread panicked");
        }
    }
}
