//! Settings of the SQLite database.

use std::sync::Arc;
use std::time::Duration;

use crate::telemetry::{TaskHeartbeat, TaskName, TaskRegistry};

/// Name of the database in the data folder.
pub const DATABASE_FILE: &str = "vigie.db";

/// When a commit counts as durable. A killed process loses nothing at either level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// A power cut may lose the commits of the last seconds; the file stays consistent.
    Normal,
    /// A power cut loses no acknowledged commit. The default: the minutes before a power cut are those that people look
    /// for, and it costs little, since up to 5,000 results share one flush.
    #[default]
    Full,
}

/// Settings of the database.
#[derive(Clone, Debug)]
pub struct SqliteSettings {
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// Number of reading threads, each with a connection.
    pub reader_threads: usize,
    /// Longest duration of a query.
    pub query_timeout: Duration,
    /// How long to wait for another program that locks the file.
    pub busy_timeout: Duration,
    /// Calls queued for the writing or the reading threads; further callers wait.
    pub queue_capacity: usize,
    /// Most calls that share one transaction.
    pub max_batch_jobs: usize,
    /// How long a transaction takes calls that are already queued. It never waits for new ones.
    pub max_batch_time: Duration,
    /// Most bytes of pages that the writing thread caches. The cache grows with the file.
    pub cache_bytes: u64,
    /// Largest size of the file; `None` for no limit. Beyond it, commits fail as on a full disk.
    pub max_file_bytes: Option<u64>,
    /// Watches the threads; `None` outside of the server.
    pub tasks: Option<Arc<TaskRegistry>>,
}

impl SqliteSettings {
    /// Registers a thread of the store; returns its heartbeat.
    pub(super) fn register_heartbeat(&self, name: TaskName) -> TaskHeartbeat {
        self.tasks.as_ref().map_or_else(|| TaskHeartbeat::unwatched(name), |tasks| tasks.register(name))
    }
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::default(),
            reader_threads: 4,
            query_timeout: Duration::from_secs(30),
            busy_timeout: Duration::from_secs(5),
            queue_capacity: 256,
            max_batch_jobs: 256,
            max_batch_time: Duration::from_millis(50),
            cache_bytes: 64 * 1024 * 1024,
            max_file_bytes: None,
            tasks: None,
        }
    }
}
