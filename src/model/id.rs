//! Identities. Run and check ids are derived, so that a replay of the same run de-duplicates itself.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::Timestamp;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// A monitor (interface.md 2.1 `id`).
    MonitorId
);
number_id!(
    /// A monitoring location (interface.md 2.3 Location).
    LocationId
);
number_id!(
    /// The account that owns a monitor (interface.md 2.1 `customer_id`).
    CustomerId
);
number_id!(
    /// Counts the accepted versions of one monitor, from 1.
    Revision
);

macro_rules! hash_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                u64::from_str_radix(text, 16).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(|_| D::Error::custom(format!("`{text}` is no id")))
            }
        }
    };
}

hash_id!(
    /// One firing of a monitor at its planned time, over all locations. 16 hexadecimal digits.
    RunId
);
hash_id!(
    /// A run at one location: the key of a result. 16 hexadecimal digits.
    CheckId
);

impl RunId {
    /// The id of the run of `monitor` that was planned at `planned_at`.
    #[must_use]
    pub fn of(monitor: MonitorId, planned_at: Timestamp) -> Self {
        Self(mix(mix(0x7669_6769, monitor.0), planned_at.as_micros()))
    }
}

impl CheckId {
    /// The id of `run` at `location`.
    #[must_use]
    pub fn of(run: RunId, location: LocationId) -> Self {
        Self(mix(run.0, location.0))
    }
}

/// Folds `word` into `seed` with the finalizer of `SplitMix64`; stable over versions and machines.
#[must_use]
pub(crate) fn mix(seed: u64, word: i64) -> u64 {
    let mut z = (seed ^ word.cast_unsigned()).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_run_are_stable_over_versions() {
        let run = RunId::of(MonitorId(7), Timestamp::from_seconds(60));
        assert_eq!(run, RunId::of(MonitorId(7), Timestamp::from_seconds(60)));
        assert_ne!(run, RunId::of(MonitorId(8), Timestamp::from_seconds(60)));
        assert_ne!(CheckId::of(run, LocationId(1)), CheckId::of(run, LocationId(2)));
    }

    #[test]
    fn an_id_survives_its_text() {
        let run = RunId(0x0123);
        assert_eq!(run.to_string(), "0000000000000123");
        assert_eq!(run.to_string().parse(), Ok(run));
    }
}
