//! Bounds of a spool.

use std::time::Duration;

/// Bounds of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoolSettings {
    /// Most bytes on disk. Beyond it the oldest captures are dropped, then the oldest results.
    pub max_bytes: u64,
    /// Records older than this are dropped.
    pub max_age: Duration,
}

impl Default for SpoolSettings {
    fn default() -> Self {
        Self { max_bytes: 1024 * 1024 * 1024, max_age: Duration::from_hours(7 * 24) }
    }
}

impl SpoolSettings {
    /// Returns the size at which a new segment file is started: space is freed a segment at a time.
    pub(super) fn segment_bytes(self) -> u64 {
        (self.max_bytes / 32).clamp(4 * 1024, 8 * 1024 * 1024)
    }
}
