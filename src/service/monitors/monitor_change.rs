//! One change of a monitor that was validated.

use std::sync::Arc;

use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};

/// A change that was validated.
#[derive(Clone, Debug)]
pub(super) enum MonitorChange {
    /// A new monitor of the caller's account.
    Create {
        /// The word of the audit trail: `create`, `clone`, …
        action: &'static str,
        /// [`Origin::Api`] or [`Origin::Applied`].
        origin: Origin,
        /// Its fields, secrets revealed.
        document: Arc<MonitorDocument>,
    },
    /// A new version of a monitor. Without a difference nothing is kept, and the version stays.
    Update {
        /// The word of the audit trail: `change`, `bulk-edit`, …
        action: &'static str,
        /// As it is in the roster.
        old: Box<Monitor>,
        /// Its fields to be, secrets revealed.
        document: Arc<MonitorDocument>,
        /// Its trail to be; [`super::save::save_all`] sets who changed it and its script.
        metadata: MonitorMetadata,
        /// Where it is written down from now on, if that changes: a new version even when nothing else differs.
        origin: Option<Origin>,
    },
    /// The end of a monitor.
    Remove {
        /// As it is in the roster.
        old: Box<Monitor>,
    },
}
