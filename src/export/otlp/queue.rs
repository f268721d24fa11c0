//! The results that wait for their export: bounded in number and bytes, the oldest dropped first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::check::ExportedCheck;
use crate::sync::Mutex;
use crate::telemetry::Metrics;

/// Most bytes of results that wait.
const MAX_QUEUED_BYTES: usize = 64 * 1024 * 1024;

/// Results that wait for their export.
pub(super) struct ResultQueue {
    waiting: Mutex<Waiting>,
    /// Woken by each result.
    arrived: Notify,
    /// Results that were dropped since the task asked last.
    dropped: AtomicU64,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Waiting {
    checks: VecDeque<ExportedCheck>,
    bytes: usize,
    /// When the oldest of them that the task has not seen yet arrived.
    since: Option<Instant>,
}

impl ResultQueue {
    pub(super) fn new(metrics: Arc<Metrics>) -> Self {
        Self { waiting: Mutex::default(), arrived: Notify::new(), dropped: AtomicU64::new(0), metrics }
    }

    /// Adds `check`; drops the oldest ones while there are more than `capacity`, or too many bytes. Never waits.
    pub(super) fn push(&self, check: ExportedCheck, capacity: usize) {
        let mut dropped = 0;
        let length = {
            let mut waiting = self.waiting.lock();
            waiting.bytes += check.estimated_bytes();
            waiting.checks.push_back(check);
            waiting.since.get_or_insert_with(Instant::now);
            while waiting.checks.len() > capacity.max(1)
                || waiting.bytes > MAX_QUEUED_BYTES && waiting.checks.len() > 1
            {
                waiting.take_first();
                dropped += 1;
            }
            waiting.checks.len()
        };
        self.metrics.otlp().set_queued(length);
        if dropped > 0 {
            self.dropped.fetch_add(dropped as u64, Ordering::Relaxed);
            self.metrics.otlp().record_dropped("queue_full", dropped);
        }
        self.arrived.notify_one();
    }

    /// Waits until `count` results wait, or the oldest of them has waited for `longest`.
    pub(super) async fn wait_for_batch(&self, count: usize, longest: Duration) {
        loop {
            let (length, since) = {
                let waiting = self.waiting.lock();
                (waiting.checks.len(), waiting.since)
            };
            match since {
                _ if length >= count => return,
                Some(since) => {
                    if tokio::time::timeout_at(since + longest, self.arrived.notified()).await.is_err() {
                        return;
                    }
                }
                None => self.arrived.notified().await,
            }
        }
    }

    /// Takes at most `count` results, the oldest first.
    pub(super) fn take(&self, count: usize) -> Vec<ExportedCheck> {
        let (taken, length) = {
            let mut waiting = self.waiting.lock();
            let taken: Vec<_> = (0..count).map_while(|_| waiting.take_first()).collect();
            waiting.since = (!waiting.checks.is_empty()).then(Instant::now);
            (taken, waiting.checks.len())
        };
        self.metrics.otlp().set_queued(length);
        taken
    }

    /// Drops everything, for `reason`; returns how many results that were.
    pub(super) fn clear(&self, reason: &'static str) -> usize {
        let dropped = self.take(usize::MAX).len();
        self.metrics.otlp().record_dropped(reason, dropped);
        dropped
    }

    /// Returns how many results did not fit since the last call.
    pub(super) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.lock().checks.is_empty()
    }
}

impl Waiting {
    fn take_first(&mut self) -> Option<ExportedCheck> {
        let check = self.checks.pop_front()?;
        self.bytes = self.bytes.saturating_sub(check.estimated_bytes());
        Some(check)
    }
}
