//! Whether this process itself stood still: suspended, stopped by a signal, or starved of processor time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::domain::Timestamp;

/// Beaten by the runner at least once a second. A check that failed while beats were missing did not see
/// the target fail: peers give up on connections that nobody reads, and timeouts run out unwatched.
#[derive(Debug)]
pub struct StallDetector {
    last_beat: AtomicI64,
    /// End of the last stretch without beats.
    stalled_until: AtomicI64,
}

/// Time between two beats that is more than a busy host explains.
const STALL_THRESHOLD: Duration = Duration::from_secs(3);

impl StallDetector {
    /// A pulse whose first beat is `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { last_beat: AtomicI64::new(now.as_micros()), stalled_until: AtomicI64::new(i64::MIN) }
    }

    /// Notes that the process is alive `now`; answers how long it had stood still, if it had.
    pub fn beat(&self, now: Timestamp) -> Option<Duration> {
        let last = Timestamp::from_micros(self.last_beat.swap(now.as_micros(), Ordering::Relaxed));
        if now < last {
            tracing::warn!(back_s = last.since(now).as_secs(), "the clock was set back");
            // A standstill that ended ahead of it must not excuse what comes now.
            self.stalled_until.fetch_min(now.as_micros(), Ordering::Relaxed);
        }
        let gap = now.since(last);
        if gap <= STALL_THRESHOLD {
            return None;
        }
        self.stalled_until.store(now.as_micros(), Ordering::Relaxed);
        Some(gap)
    }

    /// Whether the process stood still at some time between `start` and `now`.
    #[must_use]
    pub fn was_stalled_since(&self, start: Timestamp, now: Timestamp) -> bool {
        let last = Timestamp::from_micros(self.last_beat.load(Ordering::Relaxed));
        now.since(last) > STALL_THRESHOLD || self.stalled_until.load(Ordering::Relaxed) > start.as_micros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn a_standstill_is_seen_by_those_who_were_in_it_before_and_after_the_next_beat() {
        let stall_detector = StallDetector::new(at(100));
        assert_eq!(stall_detector.beat(at(101)), None);
        assert!(!stall_detector.was_stalled_since(at(100), at(102)));
        assert!(
            stall_detector.was_stalled_since(at(100), at(111)),
            "the check may wake before the runner does"
        );
        assert_eq!(stall_detector.beat(at(111)), Some(Duration::from_secs(10)));
        assert!(stall_detector.was_stalled_since(at(100), at(112)));
        assert!(
            !stall_detector.was_stalled_since(at(111), at(112)),
            "a check that began afterwards was not in it"
        );
    }

    #[test]
    fn a_clock_that_jumped_ahead_and_was_set_back_does_not_excuse_later_failures() {
        let stall_detector = StallDetector::new(at(100));
        assert!(stall_detector.beat(at(5000)).is_some());
        assert_eq!(stall_detector.beat(at(101)), None);
        assert!(!stall_detector.was_stalled_since(at(102), at(103)));
    }
}
