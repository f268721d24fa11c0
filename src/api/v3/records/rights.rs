//! The rights that changes of records need.

use crate::domain::Right;

/// Blackouts, events and the like are changed by whoever may edit monitors.
pub(super) const EDIT: Right = Right::Edit;

pub(super) const ADMINISTER: Right = Right::Administer;
