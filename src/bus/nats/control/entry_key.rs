//! The entries of a location in the bucket of assignments: one for each monitor and account, so that a change replaces
//! the entry of before.

use crate::bus::nats::subjects::ASSIGNMENTS_BUCKET;
use crate::domain::{CustomerId, LocationId, MonitorId};

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum EntryKey {
    /// A monitor, or its removal.
    Monitor(MonitorId),
    /// An account.
    Account(CustomerId),
    /// All certificates.
    Certificates,
    /// The agents that share the monitors.
    Members,
    /// Tells agents that follow the entries to start again from the snapshot.
    Snapshot,
}

impl EntryKey {
    /// Returns the subject of the entry of `location`.
    pub(super) fn subject(self, location: LocationId) -> String {
        let prefix = format!("$KV.{ASSIGNMENTS_BUCKET}.{location}");
        match self {
            Self::Monitor(id) => format!("{prefix}.monitor.{id}"),
            Self::Account(id) => format!("{prefix}.account.{id}"),
            Self::Certificates => format!("{prefix}.certificates"),
            Self::Members => format!("{prefix}.members"),
            Self::Snapshot => format!("{prefix}.snapshot"),
        }
    }
}
