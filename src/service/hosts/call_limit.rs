//! Limits how often something may call, each by its id.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::Timestamp;
use crate::sync::Mutex;

/// Number of counters at which those of past windows are removed.
const PURGE_AT: usize = 10_000;

/// Counts calls in windows of time. Only calls of known callers are counted, so that there are no more counters than
/// hosts and tokens.
pub(super) struct CallLimit {
    max_calls: u32,
    window: Duration,
    counters: Mutex<HashMap<i64, (Timestamp, u32)>>,
}

impl CallLimit {
    /// Permits `max_calls` in each `window`.
    pub(super) fn new(max_calls: u32, window: Duration) -> Self {
        Self { max_calls, window, counters: Mutex::default() }
    }

    /// Counts a call of `id` at `now`.
    ///
    /// # Errors
    /// Returns after how many seconds to call again when it is one too many.
    pub(super) fn count(&self, id: i64, now: Timestamp) -> Result<(), u64> {
        let mut counters = self.counters.lock();
        if counters.len() >= PURGE_AT {
            counters.retain(|_, (start, _)| now.since(*start) < self.window);
        }
        let (start, count) = counters.entry(id).or_insert((now, 0));
        let elapsed = now.since(*start);
        if elapsed >= self.window {
            (*start, *count) = (now, 0);
        }
        if *count >= self.max_calls {
            return Err(self.window.saturating_sub(elapsed).as_secs().max(1));
        }
        *count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_calls_in_each_window() {
        let limit = CallLimit::new(2, Duration::from_mins(1));
        let now = Timestamp::from_seconds(1_800_000_000);
        assert_eq!([limit.count(1, now), limit.count(1, now)], [Ok(()), Ok(())]);
        assert_eq!(limit.count(1, now + Duration::from_secs(20)), Err(40));
        assert_eq!(limit.count(2, now), Ok(()));
        assert_eq!(limit.count(1, now + Duration::from_mins(1)), Ok(()));
    }
}
