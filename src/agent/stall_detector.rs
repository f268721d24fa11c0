//! Detects whether this process stalled: suspended, stopped by a signal, or starved of processor time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::domain::Timestamp;

/// Receives a heartbeat from the runner at least once a second. A check that failed during a gap does not mean that the
/// target failed: peers give up on connections that are not read, and responses in time are read too late.
#[derive(Debug)]
pub struct StallDetector {
    last_heartbeat_us: AtomicI64,
    /// End of the last gap.
    stalled_until_us: AtomicI64,
}

/// A gap between two heartbeats of more than this is a stall; a busy host alone causes shorter ones.
const STALL_THRESHOLD: Duration = Duration::from_secs(3);

impl StallDetector {
    /// Creates a detector whose first heartbeat is `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            last_heartbeat_us: AtomicI64::new(now.as_micros()),
            stalled_until_us: AtomicI64::new(i64::MIN),
        }
    }

    /// Records a heartbeat at `now`; returns the length of the gap, if the process stalled.
    pub fn record_heartbeat(&self, now: Timestamp) -> Option<Duration> {
        let last_heartbeat =
            Timestamp::from_micros(self.last_heartbeat_us.swap(now.as_micros(), Ordering::Relaxed));
        if now < last_heartbeat {
            tracing::warn!(back_s = last_heartbeat.since(now).as_secs(), "the clock was set back");
            // The end of the last gap may now be in the future, and must not affect failures until then.
            self.stalled_until_us.fetch_min(now.as_micros(), Ordering::Relaxed);
        }
        let gap = now.since(last_heartbeat);
        if gap <= STALL_THRESHOLD {
            return None;
        }
        self.stalled_until_us.store(now.as_micros(), Ordering::Relaxed);
        Some(gap)
    }

    /// Whether the process stalled at some time between `start` and `now`.
    #[must_use]
    pub fn was_stalled_since(&self, start: Timestamp, now: Timestamp) -> bool {
        let last_heartbeat = Timestamp::from_micros(self.last_heartbeat_us.load(Ordering::Relaxed));
        now.since(last_heartbeat) > STALL_THRESHOLD
            || self.stalled_until_us.load(Ordering::Relaxed) > start.as_micros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn a_stall_is_reported_before_and_after_the_next_heartbeat() {
        let stall_detector = StallDetector::new(at(100));
        assert_eq!(stall_detector.record_heartbeat(at(101)), None);
        assert!(!stall_detector.was_stalled_since(at(100), at(102)));
        assert!(
            stall_detector.was_stalled_since(at(100), at(111)),
            "the check may wake before the runner does"
        );
        assert_eq!(stall_detector.record_heartbeat(at(111)), Some(Duration::from_secs(10)));
        assert!(stall_detector.was_stalled_since(at(100), at(112)));
        assert!(
            !stall_detector.was_stalled_since(at(111), at(112)),
            "a check that began afterwards was not in it"
        );
    }

    #[test]
    fn a_clock_jump_that_was_reverted_does_not_affect_later_failures() {
        let stall_detector = StallDetector::new(at(100));
        assert!(stall_detector.record_heartbeat(at(5000)).is_some());
        assert_eq!(stall_detector.record_heartbeat(at(101)), None);
        assert!(!stall_detector.was_stalled_since(at(102), at(103)));
    }
}
