//! The rate limit of echo requests, over all checks of a location.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Microseconds between two requests: 20,000 a second. Otherwise many simultaneous checks would fill queues in the
/// network, and the resulting loss would look like that of the targets.
const REQUEST_INTERVAL_US: u64 = 50;
/// Requests that may be sent at once after a pause. Their replies fit into the smallest buffer of Linux.
const MAX_BURST_REQUESTS: u64 = 100;

/// Limits the rate of requests. Slots are assigned in the order of the calls.
#[derive(Debug)]
pub(super) struct RateLimiter {
    epoch: Instant,
    /// The time of the next slot, in microseconds after `start`.
    next_slot_us: AtomicU64,
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self { epoch: Instant::now(), next_slot_us: AtomicU64::new(0) }
    }
}

impl RateLimiter {
    /// Waits for the next slot.
    pub(super) async fn wait_for_slot(&self) {
        let now_us = u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(slot_us) = self.reserve_slot(now_us) {
            tokio::time::sleep_until(self.epoch + Duration::from_micros(slot_us)).await;
        }
    }

    /// Reserves a slot at the time `now_us`; returns `None` when it is immediate, otherwise its time, in microseconds.
    fn reserve_slot(&self, now_us: u64) -> Option<u64> {
        let earliest_slot_us = now_us.saturating_sub(REQUEST_INTERVAL_US * MAX_BURST_REQUESTS);
        let next_after = |next: u64| next.max(earliest_slot_us) + REQUEST_INTERVAL_US;
        let previous = self
            .next_slot_us
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(next_after(next)));
        let slot = previous.unwrap_or_else(|next| next).max(earliest_slot_us);
        (slot > now_us).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_immediate_and_then_requests_are_spaced() {
        let limiter = RateLimiter::default();
        let now = 10_000_000;
        let slots: Vec<Option<u64>> =
            (0..MAX_BURST_REQUESTS + 3).map(|_| limiter.reserve_slot(now)).collect();
        let first_late = usize::try_from(MAX_BURST_REQUESTS).unwrap() + 1;
        assert!(slots[..first_late].iter().all(Option::is_none), "{slots:?}");
        assert_eq!(
            slots[first_late..],
            [Some(now + REQUEST_INTERVAL_US), Some(now + 2 * REQUEST_INTERVAL_US)]
        );
    }

    #[test]
    fn a_second_has_twenty_thousand_slots() {
        let limiter = RateLimiter::default();
        let last = (0..20_000).filter_map(|_| limiter.reserve_slot(0)).last();
        assert!(last.unwrap() <= 1_000_000, "{last:?}");
    }
}
