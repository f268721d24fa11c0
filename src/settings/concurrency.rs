//! How much runs at once.

use std::time::Duration;

use super::settings_reader::SettingsReader;

/// How much runs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConcurrencySettings {
    /// Checks at once.
    pub total: usize,
    /// Light ones among them.
    pub light: usize,
    /// Heavy ones among them.
    pub heavy: usize,
    /// Checks that ask one target at once.
    pub per_target: usize,
    /// Checks that wait.
    pub queue_capacity: usize,
    /// How long running checks get to end at shutdown.
    pub drain_timeout: Duration,
}

pub(super) fn read_concurrency(reader: &SettingsReader<'_>) -> ConcurrencySettings {
    ConcurrencySettings {
        total: reader.count("engine.total"),
        light: reader.count("engine.light"),
        heavy: reader.count("engine.heavy"),
        per_target: reader.count("engine.per_target"),
        queue_capacity: reader.count("engine.queue"),
        drain_timeout: Duration::from_secs(reader.number("engine.drain_seconds").unsigned_abs()),
    }
}
