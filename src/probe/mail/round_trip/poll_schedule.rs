//! When the mailbox is visited: soon at first, then more and more seldom.

use std::time::Duration;

use tokio::time::Instant;

/// Until the first visit. On one host, mail takes a few tens of milliseconds.
const FIRST_DELAY: Duration = Duration::from_millis(200);
/// Between visits at most: this is how exact the transit time of a slow message is.
const MAX_DELAY: Duration = Duration::from_secs(15);
/// What the last visit gets beside twice the time that the longest one took.
const FINAL_RESERVE: Duration = Duration::from_millis(250);

/// Times of visits, until there is no time left for another.
#[derive(Debug)]
pub(super) struct PollSchedule {
    end: Instant,
    pause: Duration,
    /// The least pause that the server asks for (LOGIN-DELAY, RFC 2449 6.5).
    min: Duration,
    longest_visit: Duration,
    over: bool,
}

impl PollSchedule {
    /// One that ends at `end`.
    pub(super) fn new(end: Instant) -> Self {
        Self { end, pause: FIRST_DELAY, min: Duration::ZERO, longest_visit: Duration::ZERO, over: false }
    }

    /// When to visit next; `None` when there is no time for it. The last visit is as late as it can be.
    pub(super) fn next_poll(&mut self, now: Instant) -> Option<Instant> {
        let reserve = self.longest_visit * 2 + FINAL_RESERVE;
        let latest = self.end.checked_sub(reserve).filter(|latest| *latest > now && !self.over)?;
        let next = now + self.pause.max(self.min);
        self.pause = (self.pause * 2).min(MAX_DELAY);
        self.over = next >= latest;
        Some(next.min(latest))
    }

    /// Notes how long a visit took, and the pause in seconds that the server asks for.
    pub(super) fn record_poll(&mut self, visit: Duration, min: Option<u64>) {
        self.longest_visit = self.longest_visit.max(visit);
        if let Some(seconds) = min {
            self.min = Duration::from_secs(seconds);
        }
    }

    /// There is more to look at: the next visit comes soon.
    pub(super) fn poll_soon(&mut self) {
        self.pause = FIRST_DELAY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds after the start at which visits of `visit` begin within `timeout`.
    fn visits(timeout: u64, visit: u64, min: Option<u64>) -> Vec<u128> {
        let start = Instant::now();
        let mut schedule = PollSchedule::new(start + Duration::from_millis(timeout));
        let mut now = start;
        let mut all = Vec::new();
        while let Some(next) = schedule.next_poll(now) {
            all.push((next - start).as_millis());
            schedule.record_poll(Duration::from_millis(visit), min);
            now = next + Duration::from_millis(visit);
        }
        all
    }

    #[test]
    fn visits_grow_rare_and_the_last_one_still_has_time() {
        assert_eq!(visits(30_000, 50, None), [200, 650, 1500, 3150, 6400, 12_850, 25_700, 29_650]);
        assert_eq!(visits(1_000, 10, None), [200, 610, 730]);
        assert_eq!(visits(200, 10, None), [] as [u128; 0], "no time at all");
        let slow = visits(240_000, 3_000, None);
        assert!(slow.windows(2).all(|two| two[1] - two[0] <= 18_000), "{slow:?}");
        assert_eq!(*slow.last().unwrap(), 240_000 - 6_250);
    }

    #[test]
    fn a_server_that_asks_for_pauses_gets_them() {
        assert_eq!(visits(30_000, 0, Some(10)), [200, 10_200, 20_200, 29_750]);
    }

    #[test]
    fn a_visit_that_left_something_is_followed_soon() {
        let start = Instant::now();
        let mut schedule = PollSchedule::new(start + Duration::from_mins(4));
        for _ in 0..8 {
            schedule.next_poll(start).unwrap();
        }
        schedule.poll_soon();
        assert_eq!(schedule.next_poll(start), Some(start + FIRST_DELAY));
    }
}
