//! Spaces out the connections of one check to its target.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::Instant;

use super::deadline::Deadline;
use crate::domain::{Failure, Phase};
use crate::sync::Mutex;

/// Gives permits for connections at a fixed rate, so that a check with many connections does not burden its target.
/// Unused permits are not saved up. Shared by reference between all parts of a check.
#[derive(Debug)]
pub struct ConnectionPacer {
    interval: Duration,
    /// When the next permit is due; `None` before the first.
    next_permit_at: Mutex<Option<Instant>>,
}

impl ConnectionPacer {
    /// Connections a second to a target unless set otherwise.
    pub const DEFAULT_PER_SECOND: NonZeroU32 = NonZeroU32::new(5).unwrap();

    /// Creates a pacer of `per_second` connections a second. The first one need not wait.
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> Self {
        Self { interval: Duration::from_secs(1) / per_second.get(), next_permit_at: Mutex::new(None) }
    }

    /// Waits for the permit to open one connection. Fails at once with a timeout when the permit is due only after
    /// `deadline`; it is not used up then.
    pub async fn wait(&self, deadline: Deadline) -> Result<(), Failure> {
        let permit_at = self.reserve(deadline)?;
        tokio::time::sleep_until(permit_at).await;
        Ok(())
    }

    fn reserve(&self, deadline: Deadline) -> Result<Instant, Failure> {
        let mut next_permit_at = self.next_permit_at.lock();
        let now = Instant::now();
        let permit_at = next_permit_at.map_or(now, |at| at.max(now));
        if permit_at >= deadline.at {
            return Err(deadline.timeout_failure(Phase::Prepare));
        }
        *next_permit_at = Some(permit_at + self.interval);
        Ok(permit_at)
    }
}

impl Default for ConnectionPacer {
    fn default() -> Self {
        Self::new(Self::DEFAULT_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::FailureKind;

    fn per_second(count: u32) -> ConnectionPacer {
        ConnectionPacer::new(NonZeroU32::new(count).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn permits_come_at_the_rate_and_are_not_saved_up() {
        let pacer = per_second(5);
        let deadline = Deadline::within(Duration::from_secs(60));
        let started = Instant::now();
        for _ in 0..6 {
            pacer.wait(deadline).await.unwrap();
        }
        assert_eq!(started.elapsed().as_millis(), 1000);
        tokio::time::sleep(Duration::from_secs(10)).await;
        let resumed = Instant::now();
        pacer.wait(deadline).await.unwrap();
        pacer.wait(deadline).await.unwrap();
        assert_eq!(resumed.elapsed().as_millis(), 200);
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_waiters_share_the_rate() {
        let pacer = per_second(10);
        let deadline = Deadline::within(Duration::from_secs(60));
        let started = Instant::now();
        let waits = (0..11).map(|_| pacer.wait(deadline));
        futures::future::join_all(waits).await.into_iter().collect::<Result<(), _>>().unwrap();
        assert_eq!(started.elapsed().as_millis(), 1000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_permit_after_the_deadline_is_a_timeout_at_once_and_stays_for_others() {
        let pacer = per_second(1);
        pacer.wait(Deadline::within(Duration::from_secs(9))).await.unwrap();
        let started = Instant::now();
        let failure = pacer.wait(Deadline::within(Duration::from_millis(500))).await.unwrap_err();
        assert_eq!((failure.kind, started.elapsed()), (FailureKind::TimedOut, Duration::ZERO));
        pacer.wait(Deadline::within(Duration::from_secs(9))).await.unwrap();
        assert_eq!(started.elapsed(), Duration::from_secs(1));
    }
}
