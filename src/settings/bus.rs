//! Settings of the bus to agents on other hosts.

use std::time::Duration;

use super::settings_reader::SettingsReader;

/// Settings of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusSettings {
    /// URLs of the NATS servers; empty for those of `vigie nats init`.
    pub urls: Vec<String>,
    /// How long a result may take from the end of its check until it is stored, before its run counts as missed.
    pub missed_after: Duration,
}

pub(super) fn read_bus(reader: &SettingsReader<'_>) -> BusSettings {
    BusSettings {
        urls: reader.text_list("bus.urls"),
        missed_after: Duration::from_secs(reader.int("bus.missed_after_seconds").unsigned_abs()),
    }
}
