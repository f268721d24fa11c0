//! A monitor: who owns it, where it comes from, and its validated document.

use std::sync::Arc;
use std::time::Duration;

use super::{CustomerId, Document, MonitorId, MonitorType, Revision, Timestamp};

/// Where a monitor was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A monitor file; `key` ties its id, slot and history to it (behaviour.md 9, monitor files).
    File {
        /// Unique over all files.
        key: Arc<str>,
    },
    /// A call of one of the APIs.
    Api,
}

/// One version of a monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    /// Its identity over all versions.
    pub id: MonitorId,
    /// The account that owns it.
    pub customer: CustomerId,
    /// Where it was written down.
    pub origin: Origin,
    /// This version.
    pub revision: Revision,
    /// When this version was accepted.
    pub modified_at: Timestamp,
    /// Its fields.
    pub document: Arc<Document>,
}

impl Monitor {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> MonitorType {
        self.document.kind()
    }

    /// Its name (interface.md 2.1).
    #[must_use]
    pub fn name(&self) -> &str {
        self.document.text("name").unwrap_or_default()
    }

    /// Whether it is planned at all.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.document.flag("enabled")
    }

    /// Time between two planned runs; interface.md counts it in minutes.
    #[must_use]
    pub fn interval(&self) -> Duration {
        Duration::from_secs(60 * self.document.number("interval").unsigned_abs().max(1))
    }

    /// Bound of one attempt as a whole; interface.md counts it in seconds.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.document.number("timeout").unsigned_abs().max(1))
    }
}
