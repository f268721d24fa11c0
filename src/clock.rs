//! Time as a trait: all code reads time from one clock, so that tests can control it.

use crate::sync::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use crate::domain::Timestamp;

/// Supplies the time and waits. Wall time may jump; waiting follows monotonic time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the wall time.
    fn now(&self) -> Timestamp;

    /// Waits for `duration`. The future may be dropped at any time.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |m| -m),
        };
        Timestamp::from_micros(micros)
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct FakeClock {
    /// Wall time, and monotonic microseconds since creation; the two diverge when the wall clock is stepped.
    wall_and_monotonic: Mutex<(Timestamp, u64)>,
    /// The monotonic microseconds again, to wake sleepers.
    monotonic: watch::Sender<u64>,
    /// Number of calls of `sleep` so far.
    sleep_count: AtomicU64,
}

impl FakeClock {
    /// Creates a clock that shows `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            wall_and_monotonic: Mutex::new((start, 0)),
            monotonic: watch::Sender::new(0),
            sleep_count: AtomicU64::new(0),
        }
    }

    /// Advances wall time and monotonic time by `duration`.
    pub fn advance(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let monotonic = {
            let mut wall_and_monotonic = self.wall_and_monotonic.lock();
            wall_and_monotonic.0 = wall_and_monotonic.0 + duration;
            wall_and_monotonic.1 = wall_and_monotonic.1.saturating_add(micros);
            wall_and_monotonic.1
        };
        self.monotonic.send_replace(monotonic);
    }

    /// Sets wall time alone, as an administrator or a resume from suspend does.
    pub fn set_wall_time(&self, wall: Timestamp) {
        self.wall_and_monotonic.lock().0 = wall;
    }

    /// Returns how many sleepers wait now, so that a test can see that the code under test is idle.
    #[must_use]
    pub fn sleeper_count(&self) -> usize {
        self.monotonic.receiver_count()
    }

    /// Returns how many waits have started so far, so that a test can see that a loop woke up and finished its turn.
    #[must_use]
    pub fn sleep_count(&self) -> u64 {
        self.sleep_count.load(Ordering::Relaxed)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        self.wall_and_monotonic.lock().0
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.sleep_count.fetch_add(1, Ordering::Relaxed);
        let mut monotonic_receiver = self.monotonic.subscribe();
        let wake_at = self.wall_and_monotonic.lock().1 + micros;
        Box::pin(async move {
            // The sender lives in `self`, which the future borrows, so the wait cannot fail.
            let _ = monotonic_receiver.wait_for(|&monotonic| monotonic >= wake_at).await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_its_time_has_passed() {
        let clock = FakeClock::new(Timestamp::from_seconds(100));
        let sleep = clock.sleep(Duration::from_secs(5));
        clock.set_wall_time(Timestamp::from_seconds(10_000));
        assert_eq!(clock.sleeper_count(), 1);
        clock.advance(Duration::from_secs(5));
        sleep.await;
        assert_eq!(clock.now(), Timestamp::from_seconds(10_005));
    }
}
