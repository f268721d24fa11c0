//! Limits of concurrent checks.

use std::time::Duration;

use super::settings_reader::SettingsReader;

/// Limits of concurrent checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConcurrencySettings {
    /// Most checks at once.
    pub total: usize,
    /// Most light checks among them.
    pub light: usize,
    /// Most heavy checks among them.
    pub heavy: usize,
    /// Most checks of one target at once.
    pub per_target: usize,
    /// Maximum number of due checks that wait for a permit.
    pub queue_capacity: usize,
    /// Time for running checks to end at shutdown.
    pub drain_timeout: Duration,
}

pub(super) fn read_concurrency(reader: &SettingsReader<'_>) -> ConcurrencySettings {
    ConcurrencySettings {
        total: reader.count("engine.total"),
        light: reader.count("engine.light"),
        heavy: reader.count("engine.heavy"),
        per_target: reader.count("engine.per_target"),
        queue_capacity: reader.count("engine.queue"),
        drain_timeout: Duration::from_secs(reader.int("engine.drain_seconds").unsigned_abs()),
    }
}
