//! The store in one SQLite file: its threads, from opening to closing.

use std::path::{Path, PathBuf};

use crate::store::contract::StoreError;

use super::error::ErrorMapper;
use super::open;
use super::reader_pool::ReaderPool;
use super::settings::SqliteSettings;
use super::writer::Writer;

/// The store in one SQLite file. Dropping it writes what it was given and closes the file, as
/// [`SqliteStore::close`] does.
pub struct SqliteStore {
    path: PathBuf,
    pub(super) writer: Writer,
    pub(super) readers: ReaderPool,
}

impl SqliteStore {
    /// Opens the database at `path`; makes it, and its folder, when there is none. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it open, [`StoreError::TooNew`] for a file of a
    /// newer Vigie, [`StoreError::Unusable`] when it is damaged or may not be written,
    /// [`StoreError::DiskFull`] when there is no room to make it.
    pub fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, StoreError> {
        let errors = ErrorMapper::for_path(path);
        let lock = open::acquire_lock(path, &errors)?;
        let conn = open::open_writer(path, settings, &errors)?;
        let readers = ReaderPool::start(path, settings, &errors)?;
        let writer = Writer::start(conn, lock, settings, errors)?;
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
        // The connection that closes last removes the write-ahead log, which only the writing one may. Waiting fails
        // only when the runtime is going down; the threads end by themselves then.
        let readers = self.readers.close();
        let _ = tokio::task::spawn_blocking(|| join_threads(readers)).await;
        let writer = self.writer.close();
        let _ = tokio::task::spawn_blocking(|| join_threads(writer)).await;
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The connection that closes last removes the write-ahead log, which only the writing one may.
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
