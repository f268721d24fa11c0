//! The pause before a request is repeated.

use std::time::Duration;

/// Pause after the first failure; it doubles with each further one.
const INITIAL_DELAY: Duration = Duration::from_secs(1);
/// Longest pause that the receiver does not ask for.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Returns the pause after `failures` failed requests in a row: what the receiver asks for, else one that doubles. A
/// quarter of it varies with `jitter` (0 to 255), so that several senders do not repeat their requests together.
pub(super) fn retry_delay(failures: u32, retry_after: Option<Duration>, jitter: u8) -> Duration {
    if let Some(delay) = retry_after {
        return delay;
    }
    let doubled = INITIAL_DELAY.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    let longest = doubled.min(MAX_DELAY);
    longest.saturating_sub(longest / 4 * u32::from(jitter) / 255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_vary_and_follow_the_receiver() {
        for (failures, seconds) in [(1, 1), (2, 2), (3, 4), (6, 30), (u32::MAX, 30)] {
            let longest = Duration::from_secs(seconds);
            assert_eq!(retry_delay(failures, None, 0), longest);
            assert_eq!(retry_delay(failures, None, 255), longest * 3 / 4);
        }
        let asked = Duration::from_secs(90);
        assert_eq!(retry_delay(1, Some(asked), 255), asked);
    }
}
