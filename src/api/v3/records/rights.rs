//! The rights that changes of records need.

use crate::domain::Permission;

/// Blackouts, events and the like are changed by whoever may edit monitors.
pub(super) const EDIT: Permission = Permission::Edit;

pub(super) const ADMINISTER: Permission = Permission::Administer;
