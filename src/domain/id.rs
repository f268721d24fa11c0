//! Ids. Run and check ids are derived, so that a replay of the same run de-duplicates itself.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::time::Timestamp;

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
    /// An agent of a location on another host, which has a credential of its own.
    AgentId
);
number_id!(
    /// A host whose agent reports metrics (`/hosts`).
    HostId
);
number_id!(
    /// The account that owns a monitor (interface.md 2.1 `customer_id`).
    CustomerId
);

impl LocationId {
    /// Whether it was made through the API, and not in the settings, whose ids end before.
    #[must_use]
    pub const fn is_stored(self) -> bool {
        self.0 > MAX_SETTINGS_ID
    }
}

/// Largest id of an object of the settings.
const MAX_SETTINGS_ID: i64 = 100_000;

impl CustomerId {
    /// The account of whoever runs this host, which exists from the first start.
    pub const OPERATOR: Self = Self(1);
}

number_id!(
    /// A user who logs in.
    UserId
);

impl UserId {
    /// Whoever may read the host token: no user of an account.
    pub const HOST: Self = Self(0);
}

number_id!(
    /// A recipient of notifications (behaviour.md 1 `/recipients`).
    RecipientId
);
number_id!(
    /// An outage of a monitor, from its first failing run to the first good one after it. Derived from the monitor and
    /// that run. Fits into 53 bits, which every JSON reader preserves exactly.
    EpisodeId
);
number_id!(
    /// Counts the accepted versions of one monitor or record, from 1.
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
                text.parse().map_err(|_| D::Error::custom(format!("`{text}` is not an id")))
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

impl MonitorId {
    /// Returns the hash that the ids of its runs are derived from; unique for each monitor.
    #[must_use]
    pub fn hash(self) -> u64 {
        mix_hash(RUN_SEED, self.0)
    }

    /// Returns the monitor with this hash.
    #[must_use]
    pub fn from_hash(hash: u64) -> Self {
        Self((unmix_hash(hash) ^ RUN_SEED).cast_signed())
    }
}

impl RunId {
    /// Derives the id of the run of `monitor` planned at `planned_at`.
    #[must_use]
    pub fn new(monitor: MonitorId, planned_at: Timestamp) -> Self {
        Self(mix_hash(monitor.hash(), planned_at.as_micros()))
    }
}

impl EpisodeId {
    /// Derives the id of the outage of `monitor` whose first failing run was planned at `planned_at`.
    #[must_use]
    pub fn new(monitor: MonitorId, planned_at: Timestamp) -> Self {
        let hash = mix_hash(monitor.hash() ^ EPISODE_SEED, planned_at.as_micros());
        Self((hash >> 11).cast_signed().max(1))
    }
}

impl CheckId {
    /// Derives the id of `run` at `location`.
    #[must_use]
    pub fn new(run: RunId, location: LocationId) -> Self {
        Self(mix_hash(run.0, location.0))
    }

    /// Returns the hash of its monitor (see [`MonitorId::hash`]) combined by XOR with its planned time in
    /// microseconds, if `location` is its location; otherwise an arbitrary number.
    #[must_use]
    pub fn monitor_hash_xor_time(self, location: LocationId) -> u64 {
        unmix_hash(unmix_hash(self.0) ^ location.0.cast_unsigned())
    }

    /// Returns the planned time of the run of `monitor` with this id at `location`: undoes [`RunId::new`] and
    /// [`CheckId::new`]. Returns an arbitrary time when the id belongs to another monitor or location.
    #[must_use]
    pub fn planned_at(self, monitor: MonitorId, location: LocationId) -> Timestamp {
        Timestamp::from_micros((self.monitor_hash_xor_time(location) ^ monitor.hash()).cast_signed())
    }
}

/// Separates the hashes of episodes from those of runs.
const EPISODE_SEED: u64 = 0x6570_6973;

/// Seed of run ids.
const RUN_SEED: u64 = 0x7669_6769;

/// Folds `value` into `seed` with the finalizer of `SplitMix64`; stable over versions and machines.
#[must_use]
pub(crate) fn mix_hash(seed: u64, value: i64) -> u64 {
    let mut z = (seed ^ value.cast_unsigned()).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the `seed ^ value` of the [`mix_hash`] that gave `mixed`: inverts its steps with the inverse factors.
fn unmix_hash(mixed: u64) -> u64 {
    let mut z = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    z = z.wrapping_mul(0x3196_42b2_d24d_8ec3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    (z ^ (z >> 30) ^ (z >> 60)).wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_check_id_yields_its_planned_time(monitor: i64, at: i64, location: i64) {
            let (monitor, location) = (MonitorId(monitor), LocationId(location));
            let at = Timestamp::from_micros(at);
            let id = CheckId::new(RunId::new(monitor, at), location);
            proptest::prop_assert_eq!(id.planned_at(monitor, location), at);
        }
    }

    #[test]
    fn ids_of_a_run_are_stable_over_versions() {
        let run = RunId::new(MonitorId(7), Timestamp::from_seconds(60));
        assert_eq!(run, RunId::new(MonitorId(7), Timestamp::from_seconds(60)));
        assert_ne!(run, RunId::new(MonitorId(8), Timestamp::from_seconds(60)));
        assert_ne!(CheckId::new(run, LocationId(1)), CheckId::new(run, LocationId(2)));
    }

    #[test]
    fn an_id_survives_its_text() {
        let run = RunId(0x0123);
        assert_eq!(run.to_string(), "0000000000000123");
        assert_eq!(run.to_string().parse(), Ok(run));
    }
}
