//! The store in one SQLite file: its threads, from opening to closing.

use std::path::{Path, PathBuf};

use crate::store::contract::StoreError;

use super::error::Told;
use super::open;
use super::readers::Readers;
use super::settings::SqliteSettings;
use super::writer::Writer;

/// The store in one SQLite file. Dropping it writes what it was given and closes the file, as
/// [`SqliteStore::close`] does.
pub struct SqliteStore {
    path: PathBuf,
    pub(super) writer: Writer,
    pub(super) readers: Readers,
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

pub(super) fn join(threads: Vec<std::thread::JoinHandle<()>>) {
    for thread in threads {
        if thread.join().is_err() {
            tracing::error!("a thread of the store ended by a defect");
        }
    }
}
