//! The time that a script may run, without the time that it waits for the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counts the running time of a script and tells when it is used up. Shared with the engine, which asks now and then.
#[derive(Clone, Debug)]
pub(super) struct TimeLimit {
    /// The end of the turn in progress, in microseconds after `epoch`.
    turn_end_us: Arc<AtomicU64>,
    epoch: Instant,
    remaining: Duration,
}

impl TimeLimit {
    pub(super) fn new() -> Self {
        Self {
            turn_end_us: Arc::new(AtomicU64::new(u64::MAX)),
            epoch: Instant::now(),
            remaining: Duration::ZERO,
        }
    }

    /// Gives the next script `limit`.
    pub(super) const fn reset(&mut self, limit: Duration) {
        self.remaining = limit;
    }

    /// Begins a turn that ends `most` after now at the latest; returns its start.
    pub(super) fn begin_turn(&self, most: Duration) -> Instant {
        let now = Instant::now();
        let end = now.duration_since(self.epoch) + self.remaining.min(most);
        self.turn_end_us.store(u64::try_from(end.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        now
    }

    /// Ends the turn that began at `start`.
    pub(super) fn end_turn(&mut self, start: Instant) {
        self.remaining = self.remaining.saturating_sub(start.elapsed());
    }

    /// Whether the turn in progress has used its time.
    pub(super) fn is_used_up(&self) -> bool {
        let now = u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX);
        now >= self.turn_end_us.load(Ordering::Relaxed)
    }
}
