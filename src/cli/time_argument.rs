//! Times on the command line: a time, a day, or an age.

use std::time::Duration;

use crate::domain::Timestamp;

/// Units of an age, with their seconds.
const UNITS: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];

/// A point in time, given absolutely or as an age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeArgument {
    Absolute(Timestamp),
    Ago(Duration),
}

impl TimeArgument {
    /// Parses `2026-11-20T08:00:00Z`, `2026-11-20` (00:00 UTC) or `90m`, `2h`, `3d` (ago).
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some(age) = parse_duration(text) {
            return Ok(Self::Ago(age));
        }
        Timestamp::parse(text)
            .or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")))
            .map(Self::Absolute)
            .ok_or_else(|| {
                "write a time like `2026-11-20T08:00:00Z`, a day like `2026-11-20`, or an age like `2h`"
                    .to_owned()
            })
    }

    /// Returns the point in time, relative to `now`.
    pub(super) fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Absolute(time) => time,
            Self::Ago(age) => now - age,
        }
    }
}

/// Parses `90s`, `10m`, `2h` or `3d`.
pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let (unit, unit_seconds) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
    let unit_count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    unit_count.checked_mul(*unit_seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_ages_are_moments() {
        let now = Timestamp::parse("2026-11-20T08:00:00Z").unwrap();
        for (text, expected) in [
            ("2026-11-19T07:30:00Z", "2026-11-19T07:30:00Z"),
            ("2026-11-19", "2026-11-19T00:00:00Z"),
            ("90m", "2026-11-20T06:30:00Z"),
            ("2d", "2026-11-18T08:00:00Z"),
        ] {
            assert_eq!(TimeArgument::parse(text).unwrap().resolve(now).to_string(), expected, "{text}");
        }
        for invalid in ["", "yesterday", "h", "-2h", "99999999999999999999d", "18446744073709551615d"] {
            assert!(TimeArgument::parse(invalid).is_err(), "{invalid}");
        }
    }
}
