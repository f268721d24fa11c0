//! Permissions that are required to change records.

use crate::domain::Permission;

/// Required to change blackouts, events and the like; the same as for monitors.
pub(super) const EDIT: Permission = Permission::Edit;

pub(super) const ADMINISTER: Permission = Permission::Administer;
