//! Formatting of numbers for people.

use std::time::Duration;

use crate::domain::Timestamp;

/// Formats `micros` in a suitable unit: `0.4 ms`, `12.3 ms`, `1.25 s`.
#[must_use]
pub fn format_duration(micros: u64) -> String {
    if micros < 999_950 {
        format!("{:.1} ms", micros as f64 / 1e3)
    } else {
        format!("{:.2} s", micros as f64 / 1e6)
    }
}

/// Formats the time between two runs: `20 s`, `5 min`.
#[must_use]
pub fn format_interval(interval: Duration) -> String {
    match interval.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// Returns the full days from `from` to `to`, rounded down; negative if `to` is earlier.
#[must_use]
pub fn days_between(from: Timestamp, to: Timestamp) -> i64 {
    (to.as_micros() - from.as_micros()).div_euclid(86_400_000_000)
}

/// Formats `count` with commas between groups of three digits.
#[must_use]
pub fn format_grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_suitable_unit() {
        for (micros, text) in [
            (0, "0.0 ms"),
            (431, "0.4 ms"),
            (999_949, "999.9 ms"),
            (999_950, "1.00 s"),
            (61_250_000, "61.25 s"),
        ] {
            assert_eq!(format_duration(micros), text);
        }
    }

    #[test]
    fn days_are_negative_after_the_end() {
        let day = |n: i64| Timestamp::from_seconds(n * 86_400);
        assert_eq!(days_between(day(1), day(31)), 30);
        assert_eq!(days_between(day(1), day(0)), -1);
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        for (count, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(format_grouped(count), text);
        }
    }
}
