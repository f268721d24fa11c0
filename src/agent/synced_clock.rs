//! The clock of an agent on another host: that of the control plane, as the agent measured it.
//!
//! It runs on the monotonic clock of the host, so that a step of the host's wall clock changes nothing. What is measured
//! is approached gradually: time never jumps and never runs backwards, so that no slot is repeated or skipped.

use std::pin::Pin;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::clock::Clock;
use crate::domain::Timestamp;
use crate::sync::Mutex;

/// A difference of more is logged as a warning.
const WARN_ABOVE: Duration = Duration::from_millis(500);
/// By how much of each second the clock runs faster or slower while it approaches what was measured.
const SLEW_RATE: f64 = 0.05;
/// Differences above this are approached at [`FAST_SLEW_RATE`].
const FAST_ABOVE: Duration = Duration::from_secs(10);
const FAST_SLEW_RATE: f64 = 0.5;

/// The clock of an agent.
pub struct SyncedClock {
    slew: Mutex<Slew>,
    /// Returns the time since some fixed moment, also while the host is suspended.
    monotonic: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// A stretch of time in which the clock approaches what was measured.
#[derive(Clone, Copy, Debug)]
struct Slew {
    /// Monotonic time of its start, and what the clock showed then.
    started_at: Duration,
    shown_at_start: Timestamp,
    /// By how many microseconds the clock was behind then; negative when it was ahead.
    behind_us: i64,
}

impl Slew {
    /// Returns what the clock shows at the monotonic time `now`.
    fn time_at(&self, now: Duration) -> Timestamp {
        let elapsed = now.saturating_sub(self.started_at);
        let rate =
            if self.behind_us.unsigned_abs() > duration_us(FAST_ABOVE) { FAST_SLEW_RATE } else { SLEW_RATE };
        let most = i64::try_from(elapsed.mul_f64(rate).as_micros()).unwrap_or(i64::MAX);
        let correction = self.behind_us.clamp(-most, most);
        let shown = self.shown_at_start + elapsed;
        Timestamp::from_micros(shown.as_micros().saturating_add(correction))
    }
}

impl SyncedClock {
    /// Creates a clock that shows `now`, and runs on the boot-time clock of the host.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self::on(now, Box::new(boot_time))
    }

    fn on(now: Timestamp, monotonic: Box<dyn Fn() -> Duration + Send + Sync>) -> Self {
        let slew = Slew { started_at: monotonic(), shown_at_start: now, behind_us: 0 };
        Self { slew: Mutex::new(slew), monotonic }
    }

    /// Sets the clock at once. Only before anything is scheduled by it.
    pub fn step_to(&self, now: Timestamp) {
        *self.slew.lock() = Slew { started_at: (self.monotonic)(), shown_at_start: now, behind_us: 0 };
    }

    /// Approaches `target`, the time of the control plane now.
    pub fn approach(&self, target: Timestamp) {
        let now = (self.monotonic)();
        let mut slew = self.slew.lock();
        let shown = slew.time_at(now);
        let behind_us = target.as_micros().saturating_sub(shown.as_micros());
        *slew = Slew { started_at: now, shown_at_start: shown, behind_us };
        drop(slew);
        if behind_us.unsigned_abs() > duration_us(WARN_ABOVE) {
            tracing::warn!(
                behind_ms = behind_us / 1_000,
                "the clock of this host differs from that of the control plane; checks follow the control plane"
            );
        }
    }
}

impl Clock for SyncedClock {
    fn now(&self) -> Timestamp {
        self.slew.lock().time_at((self.monotonic)())
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns the time since the host started, suspended or not.
fn boot_time() -> Duration {
    // It fails for a clock that the kernel does not have only.
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from)
}

fn duration_us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000 + 1_000 * millis)
    }

    /// Returns a clock that shows 0 ms, and what moves its monotonic clock, in milliseconds.
    fn clock() -> (SyncedClock, impl Fn(u64)) {
        let millis = Arc::new(AtomicU64::new(5_000));
        let read = Arc::clone(&millis);
        let monotonic = move || Duration::from_millis(read.load(Ordering::Relaxed));
        let clock = SyncedClock::on(at(0), Box::new(monotonic));
        (clock, move |by| {
            millis.fetch_add(by, Ordering::Relaxed);
        })
    }

    #[test]
    fn a_difference_is_approached_without_a_jump() {
        for ahead in [400, -400] {
            let (clock, advance) = clock();
            clock.approach(at(ahead));
            assert_eq!(clock.now(), at(0));
            advance(1_000);
            assert_eq!(clock.now(), at(1_000 + 50 * ahead.signum()));
            advance(99_000);
            assert_eq!(clock.now(), at(100_000 + ahead));
        }
    }

    #[test]
    fn time_never_runs_backwards_however_far_the_host_was_off() {
        let (clock, advance) = clock();
        clock.approach(at(-300_000));
        let mut before = clock.now();
        for _ in 0..1_200 {
            advance(1_000);
            let now = clock.now();
            assert!(now > before, "{now} after {before}");
            before = now;
        }
        assert_eq!(clock.now(), at(1_200_000 - 300_000));
    }

    #[test]
    fn a_new_measurement_goes_on_from_what_is_shown() {
        let (clock, advance) = clock();
        clock.approach(at(400));
        advance(2_000);
        assert_eq!(clock.now(), at(2_100));
        clock.approach(at(2_100));
        advance(1_000);
        assert_eq!(clock.now(), at(3_100));
    }
}
