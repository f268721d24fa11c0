//! When an echo request may go out, over all checks of a location.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Microseconds between two requests: 20,000 a second. Many checks that begin at one time would else fill
/// queues on the way, and what they lose would look like the targets' loss.
const INTERVAL_MICROS: u64 = 50;
/// Requests that may go out at once after a pause. Their replies fit into the smallest buffer of Linux.
const BURST: u64 = 100;

/// Keeps requests apart. Turns are given in the order in which they are asked for.
#[derive(Debug)]
pub(super) struct RateLimiter {
    start: Instant,
    /// When the next turn is, in microseconds after `start`.
    next: AtomicU64,
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self { start: Instant::now(), next: AtomicU64::new(0) }
    }
}

impl RateLimiter {
    /// Waits for the next turn.
    pub(super) async fn acquire(&self) {
        let now = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(at) = self.reserve(now) {
            tokio::time::sleep_until(self.start + Duration::from_micros(at)).await;
        }
    }

    /// The turn of one who asks at `now`: none when it is now, else when it is. In microseconds.
    fn reserve(&self, now: u64) -> Option<u64> {
        let earliest = now.saturating_sub(INTERVAL_MICROS * BURST);
        let after = |next: u64| next.max(earliest) + INTERVAL_MICROS;
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(after(next)));
        let turn = taken.unwrap_or_else(|next| next).max(earliest);
        (turn > now).then_some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_pause_a_burst_goes_out_and_then_one_after_the_other() {
        let pace = RateLimiter::default();
        let now = 10_000_000;
        let turns: Vec<Option<u64>> = (0..BURST + 3).map(|_| pace.reserve(now)).collect();
        let first_late = usize::try_from(BURST).unwrap() + 1;
        assert!(turns[..first_late].iter().all(Option::is_none), "{turns:?}");
        assert_eq!(turns[first_late..], [Some(now + INTERVAL_MICROS), Some(now + 2 * INTERVAL_MICROS)]);
    }

    #[test]
    fn a_second_holds_two_thousand_ten_times() {
        let pace = RateLimiter::default();
        let last = (0..20_000).filter_map(|_| pace.reserve(0)).last();
        assert!(last.unwrap() <= 1_000_000, "{last:?}");
    }
}
