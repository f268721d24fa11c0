//! The times at which the mailbox is polled: soon at first, then with growing delays.

use std::time::Duration;

use tokio::time::Instant;

/// Delay before the first poll. On one host, mail takes a few tens of milliseconds.
const FIRST_DELAY: Duration = Duration::from_millis(200);
/// Longest delay between polls: the precision of the transit time of a slow message.
const MAX_DELAY: Duration = Duration::from_secs(15);
/// Time reserved for the last poll, in addition to twice the duration of the longest poll so far.
const FINAL_POLL_RESERVE: Duration = Duration::from_millis(250);

/// The times of polls, until there is no time left for another.
#[derive(Debug)]
pub(super) struct PollSchedule {
    deadline: Instant,
    next_delay: Duration,
    /// The shortest delay that the server allows (LOGIN-DELAY, RFC 2449 6.5).
    min_delay: Duration,
    longest_poll: Duration,
    /// Whether the poll returned last was the final one.
    is_last: bool,
}

impl PollSchedule {
    /// Creates a schedule that ends at `deadline`.
    pub(super) fn new(deadline: Instant) -> Self {
        Self {
            deadline,
            next_delay: FIRST_DELAY,
            min_delay: Duration::ZERO,
            longest_poll: Duration::ZERO,
            is_last: false,
        }
    }

    /// Returns the time of the next poll; `None` when there is no time for it. The last poll is as late as possible.
    pub(super) fn next_poll(&mut self, now: Instant) -> Option<Instant> {
        let reserve = self.longest_poll * 2 + FINAL_POLL_RESERVE;
        let last_poll_at =
            self.deadline.checked_sub(reserve).filter(|last_poll_at| *last_poll_at > now && !self.is_last)?;
        let next = now + self.next_delay.max(self.min_delay);
        self.next_delay = (self.next_delay * 2).min(MAX_DELAY);
        self.is_last = next >= last_poll_at;
        Some(next.min(last_poll_at))
    }

    /// Records the duration of a poll, and the shortest delay in seconds that the server allows.
    pub(super) fn record_poll(&mut self, duration: Duration, min_delay_seconds: Option<u64>) {
        self.longest_poll = self.longest_poll.max(duration);
        if let Some(seconds) = min_delay_seconds {
            self.min_delay = Duration::from_secs(seconds);
        }
    }

    /// Makes the next poll follow soon, since some messages were not examined yet.
    pub(super) fn reset_delay(&mut self) {
        self.next_delay = FIRST_DELAY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the start times of polls within `timeout`, in milliseconds; each takes `duration`.
    fn poll_start_times(timeout: u64, duration: u64, min: Option<u64>) -> Vec<u128> {
        let start = Instant::now();
        let mut schedule = PollSchedule::new(start + Duration::from_millis(timeout));
        let mut now = start;
        let mut starts = Vec::new();
        while let Some(next) = schedule.next_poll(now) {
            starts.push((next - start).as_millis());
            schedule.record_poll(Duration::from_millis(duration), min);
            now = next + Duration::from_millis(duration);
        }
        starts
    }

    #[test]
    fn delays_grow_and_the_last_poll_still_has_time() {
        assert_eq!(poll_start_times(30_000, 50, None), [200, 650, 1500, 3150, 6400, 12_850, 25_700, 29_650]);
        assert_eq!(poll_start_times(1_000, 10, None), [200, 610, 730]);
        assert_eq!(poll_start_times(200, 10, None), [] as [u128; 0], "no time at all");
        let slow = poll_start_times(240_000, 3_000, None);
        assert!(slow.windows(2).all(|pair| pair[1] - pair[0] <= 18_000), "{slow:?}");
        assert_eq!(*slow.last().unwrap(), 240_000 - 6_250);
    }

    #[test]
    fn the_login_delay_of_the_server_is_respected() {
        assert_eq!(poll_start_times(30_000, 0, Some(10)), [200, 10_200, 20_200, 29_750]);
    }

    #[test]
    fn an_incomplete_poll_is_repeated_soon() {
        let start = Instant::now();
        let mut schedule = PollSchedule::new(start + Duration::from_mins(4));
        for _ in 0..8 {
            schedule.next_poll(start).unwrap();
        }
        schedule.reset_delay();
        assert_eq!(schedule.next_poll(start), Some(start + FIRST_DELAY));
    }
}
