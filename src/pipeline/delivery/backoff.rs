//! The delay after a failed attempt.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::settings::DeliverySettings;

/// Returns the delay after `consecutive_failures` consecutive failed attempts: it doubles with each up to a maximum,
/// and varies by up to a quarter, so that recipients that failed together are not retried together. The variation
/// depends on `jitter_key` and `consecutive_failures` only.
pub(super) fn retry_delay(
    settings: &DeliverySettings,
    jitter_key: &str,
    consecutive_failures: u32,
) -> Duration {
    let exponential_delay = settings
        .initial_retry_delay
        .saturating_mul(2_u32.saturating_pow(consecutive_failures.saturating_sub(1)));
    let delay = exponential_delay.min(settings.max_retry_delay);
    let mut hasher = DefaultHasher::new();
    (jitter_key, consecutive_failures).hash(&mut hasher);
    let jitter_percent = 75 + u32::try_from(hasher.finish() % 51).unwrap_or(25);
    delay * jitter_percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_stay_near_it() {
        let settings = DeliverySettings::default();
        for (failures, seconds) in [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (50, 300), (u32::MAX, 300)]
        {
            let nominal_delay = Duration::from_secs(seconds);
            let delays: Vec<_> =
                (0..200).map(|n| retry_delay(&settings, &format!("key-{n}"), failures)).collect();
            assert!(
                delays.iter().all(|delay| *delay >= nominal_delay * 3 / 4 && *delay <= nominal_delay * 5 / 4),
                "{failures}"
            );
            let (min, max) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
            assert!(
                max.saturating_sub(*min) > nominal_delay / 4,
                "no spread after {failures}: {min:?} to {max:?}"
            );
        }
    }
}
