//! One validated change of a monitor.

use std::sync::Arc;

use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};

/// A validated change.
#[derive(Clone, Debug)]
pub(super) enum MonitorChange {
    /// A new monitor of the caller's account.
    Create {
        /// Action in the audit trail: `create`, `clone`, …
        audit_action: &'static str,
        /// [`Origin::Api`] or [`Origin::Applied`].
        origin: Origin,
        /// Its fields, secrets revealed.
        document: Arc<MonitorDocument>,
    },
    /// A new revision of a monitor. Without a difference nothing is stored, and the revision stays the same.
    Update {
        /// Action in the audit trail: `change`, `bulk-edit`, …
        audit_action: &'static str,
        /// The current revision in the monitor cache.
        old: Box<Monitor>,
        /// Its new fields, secrets revealed.
        document: Arc<MonitorDocument>,
        /// Its new metadata; saving sets who changed it and its script.
        metadata: MonitorMetadata,
        /// Its new origin, if that changes: a new revision even when nothing else differs.
        new_origin: Option<Origin>,
    },
    /// The removal of a monitor.
    Remove {
        /// The current revision in the monitor cache.
        old: Box<Monitor>,
    },
}
