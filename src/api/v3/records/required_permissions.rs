//! Permissions that are required to change records.

use crate::domain::Permission;

/// Required to change blackouts, events and the like; the same as for monitors.
pub(super) const EDIT_PERMISSION: Permission = Permission::Edit;

pub(super) const ADMINISTER_PERMISSION: Permission = Permission::Administer;
