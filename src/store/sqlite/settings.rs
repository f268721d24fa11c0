//! How the SQLite database is used.

use std::time::Duration;

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
    pub max_batch_jobs: usize,
    /// How long a transaction takes in more calls at most. It never waits for them.
    pub max_batch_time: Duration,
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
            max_batch_jobs: 256,
            max_batch_time: Duration::from_millis(50),
            cache_bytes: 64 * 1024 * 1024,
            max_bytes: None,
        }
    }
}
