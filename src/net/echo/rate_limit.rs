//! The rate limit of echo requests, over all checks of a location.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Microseconds between two requests: 20,000 a second. Otherwise many simultaneous checks would fill queues in the
/// network, and the resulting loss would look like that of the targets.
const REQUEST_INTERVAL_US: u64 = 50;
/// Requests that may be sent at once after a pause. Their replies fit into the smallest buffer of Linux.
const MAX_BURST_REQUESTS: u64 = 100;

/// Limits the rate of requests. Send times are assigned in the order of the calls.
#[derive(Debug)]
pub(super) struct RateLimiter {
    /// When the limiter was created.
    epoch: Instant,
    /// The earliest time of the next request, in microseconds after `epoch`.
    next_send_us: AtomicU64,
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self { epoch: Instant::now(), next_send_us: AtomicU64::new(0) }
    }
}

impl RateLimiter {
    /// Waits for the next free send time.
    pub(super) async fn wait_until_allowed(&self) {
        let now_us = u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(send_us) = self.reserve_send_time(now_us) {
            tokio::time::sleep_until(self.epoch + Duration::from_micros(send_us)).await;
        }
    }

    /// Reserves the next send time at `now_us`; returns `None` when it is now, else its microseconds after `epoch`.
    fn reserve_send_time(&self, now_us: u64) -> Option<u64> {
        let earliest_send_us = now_us.saturating_sub(REQUEST_INTERVAL_US * MAX_BURST_REQUESTS);
        let next_after = |next: u64| next.max(earliest_send_us) + REQUEST_INTERVAL_US;
        let previous = self
            .next_send_us
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(next_after(next)));
        let send_us = previous.unwrap_or_else(|next| next).max(earliest_send_us);
        (send_us > now_us).then_some(send_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_immediate_and_then_requests_are_spaced() {
        let limiter = RateLimiter::default();
        let now = 10_000_000;
        let send_times: Vec<Option<u64>> =
            (0..MAX_BURST_REQUESTS + 3).map(|_| limiter.reserve_send_time(now)).collect();
        let immediate_count = usize::try_from(MAX_BURST_REQUESTS).unwrap() + 1;
        assert!(send_times[..immediate_count].iter().all(Option::is_none), "{send_times:?}");
        assert_eq!(
            send_times[immediate_count..],
            [Some(now + REQUEST_INTERVAL_US), Some(now + 2 * REQUEST_INTERVAL_US)]
        );
    }

    #[test]
    fn a_second_has_twenty_thousand_send_times() {
        let limiter = RateLimiter::default();
        let last = (0..20_000).filter_map(|_| limiter.reserve_send_time(0)).last();
        assert!(last.unwrap() <= 1_000_000, "{last:?}");
    }
}
