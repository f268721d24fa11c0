//! The time zone in which pages show times.

use std::sync::{LazyLock, OnceLock};

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::domain::Timestamp;

/// A zone by its IANA name; its rules are read when they are needed.
#[derive(Debug)]
struct ZoneEntry {
    name: String,
    rules: OnceLock<TimeZone>,
}

/// Every zone that the database of time zones has, and UTC, by name.
static ZONES: LazyLock<Vec<ZoneEntry>> = LazyLock::new(|| {
    let mut names: Vec<String> = jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
    names.push("UTC".to_owned());
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| ZoneEntry { name, rules: OnceLock::new() }).collect()
});

/// What a time of the wall clock is in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallTime {
    /// A moment.
    Once(Timestamp),
    /// Two moments, since the clocks go back over it; this is the first.
    Twice(Timestamp),
    /// None, since the clocks skip it; this is the moment as if they had not been put forward yet.
    Never(Timestamp),
}

impl WallTime {
    /// Returns the moment, or the one that is nearest to it.
    #[must_use]
    pub fn moment(self) -> Timestamp {
        match self {
            Self::Once(at) | Self::Twice(at) | Self::Never(at) => at,
        }
    }
}

/// A time zone.
#[derive(Clone, Copy, Debug)]
pub struct Zone(&'static ZoneEntry);

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Zone {}

impl Default for Zone {
    fn default() -> Self {
        static UTC: LazyLock<ZoneEntry> =
            LazyLock::new(|| ZoneEntry { name: "UTC".to_owned(), rules: OnceLock::from(TimeZone::UTC) });
        Self(&UTC)
    }
}

impl Zone {
    /// Returns the zone with this IANA name, such as `Europe/Berlin`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let entry =
            ZONES.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok().map(|at| &ZONES[at])?;
        // What the database lists but cannot read is no zone.
        TimeZone::get(&entry.name).ok()?;
        Some(Self(entry))
    }

    /// Returns the names that people choose from: those of regions, and UTC.
    pub fn choices() -> impl Iterator<Item = &'static str> {
        let is_region = |name: &&str| {
            let region = name.split_once('/').map(|(region, _)| region);
            *name == "UTC"
                || region.is_some_and(|region| !["Etc", "posix", "right", "SystemV"].contains(&region))
        };
        ZONES.iter().map(|entry| entry.name.as_str()).filter(is_region)
    }

    /// Returns its IANA name.
    #[must_use]
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Returns its abbreviation at `time`, such as `CEST`, or its offset where it has none.
    #[must_use]
    pub fn abbreviation(self, time: Timestamp) -> String {
        self.to_zoned(time).map_or_else(|| "UTC".to_owned(), |zoned| zoned.strftime("%Z").to_string())
    }

    /// Formats `time` such as `2026-11-20 12:00:00`.
    #[must_use]
    pub fn format(self, time: Timestamp) -> String {
        let text = self.to_zoned(time).map(|zoned| zoned.strftime("%Y-%m-%d %H:%M:%S").to_string());
        text.unwrap_or_else(|| time.to_string())
    }

    /// Reads a time of the wall clock, such as `2026-11-20 12:00:00`; `None` when it is none.
    #[must_use]
    pub fn read(self, text: &str) -> Option<WallTime> {
        let local = DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok()?;
        let ambiguous = self.rules().to_ambiguous_timestamp(local);
        let offset = ambiguous.offset();
        let moment = Timestamp::from_micros(ambiguous.compatible().ok()?.as_microsecond());
        Some(match offset {
            AmbiguousOffset::Unambiguous { .. } => WallTime::Once(moment),
            AmbiguousOffset::Fold { .. } => WallTime::Twice(moment),
            AmbiguousOffset::Gap { .. } => WallTime::Never(moment),
        })
    }

    fn rules(self) -> &'static TimeZone {
        self.0.rules.get_or_init(|| TimeZone::get(&self.0.name).unwrap_or(TimeZone::UTC))
    }

    fn to_zoned(self, time: Timestamp) -> Option<jiff::Zoned> {
        let time = jiff::Timestamp::from_microsecond(time.as_micros()).ok()?;
        Some(time.to_zoned(self.rules().clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_rules_of_the_zone() {
        let berlin = Zone::from_name("Europe/Berlin").unwrap();
        // An hour before and after the clocks go back, 2026-10-25 01:00 UTC.
        for (seconds, text, abbreviation) in [
            (1_792_886_400, "2026-10-25 02:00:00", "CEST"),
            (1_792_890_000, "2026-10-25 02:00:00", "CET"),
            (1_795_176_000, "2026-11-20 13:00:00", "CET"),
        ] {
            let time = Timestamp::from_seconds(seconds);
            assert_eq!(
                (berlin.format(time).as_str(), berlin.abbreviation(time).as_str()),
                (text, abbreviation)
            );
        }
        let time = Timestamp::from_micros(1_795_176_000_999_999);
        assert_eq!(Zone::default().format(time), "2026-11-20 12:00:00");
        assert_eq!(Zone::default().abbreviation(time), "UTC");
        // The clocks go forward at 2026-03-29 01:00 UTC, from 02:00 to 03:00.
        for (text, expected) in [
            ("2026-11-20 13:00:00", Some(WallTime::Once(Timestamp::from_seconds(1_795_176_000)))),
            ("2026-10-25 02:00:00", Some(WallTime::Twice(Timestamp::from_seconds(1_792_886_400)))),
            ("2026-03-29 02:30:00", Some(WallTime::Never(Timestamp::from_seconds(1_774_747_800)))),
            ("2026-11-20 13:00", None),
            ("tomorrow", None),
        ] {
            assert_eq!(berlin.read(text), expected, "{text}");
        }
        assert_eq!(Zone::from_name("Europe/Atlantis"), None);
        assert_eq!(Zone::from_name("UTC"), Some(Zone::default()));
        assert!(Zone::choices().any(|name| name == "America/New_York"));
    }
}
