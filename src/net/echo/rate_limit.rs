//! The rate limit of echo requests, over all checks of a location.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Microseconds between two requests: 20,000 a second. Otherwise many simultaneous checks would fill queues in the
/// network, and the resulting loss would look like that of the targets.
const INTERVAL_MICROS: u64 = 50;
/// Requests that may be sent at once after a pause. Their replies fit into the smallest buffer of Linux.
const BURST: u64 = 100;

/// Limits the rate of requests. Slots are assigned in the order of the calls.
#[derive(Debug)]
pub(super) struct RateLimiter {
    start: Instant,
    /// The time of the next slot, in microseconds after `start`.
    next_slot_us: AtomicU64,
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self { start: Instant::now(), next_slot_us: AtomicU64::new(0) }
    }
}

impl RateLimiter {
    /// Waits for the next slot.
    pub(super) async fn acquire(&self) {
        let now = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(at) = self.reserve(now) {
            tokio::time::sleep_until(self.start + Duration::from_micros(at)).await;
        }
    }

    /// Reserves a slot at the time `now`; returns `None` when it is immediate, otherwise its time, in microseconds.
    fn reserve(&self, now: u64) -> Option<u64> {
        let earliest = now.saturating_sub(INTERVAL_MICROS * BURST);
        let next_after = |next: u64| next.max(earliest) + INTERVAL_MICROS;
        let previous = self
            .next_slot_us
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(next_after(next)));
        let slot = previous.unwrap_or_else(|next| next).max(earliest);
        (slot > now).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_immediate_and_then_requests_are_spaced() {
        let limiter = RateLimiter::default();
        let now = 10_000_000;
        let slots: Vec<Option<u64>> = (0..BURST + 3).map(|_| limiter.reserve(now)).collect();
        let first_late = usize::try_from(BURST).unwrap() + 1;
        assert!(slots[..first_late].iter().all(Option::is_none), "{slots:?}");
        assert_eq!(slots[first_late..], [Some(now + INTERVAL_MICROS), Some(now + 2 * INTERVAL_MICROS)]);
    }

    #[test]
    fn a_second_has_twenty_thousand_slots() {
        let limiter = RateLimiter::default();
        let last = (0..20_000).filter_map(|_| limiter.reserve(0)).last();
        assert!(last.unwrap() <= 1_000_000, "{last:?}");
    }
}
