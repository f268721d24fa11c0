//! Which monitors a caller may see and change.

use crate::catalog::MonitorCache;
use crate::domain::{MonitorId, Revision};
use crate::schema::{Monitor, Origin};
use crate::service::caller::{Caller, ServiceError};

/// Which version a caller wants to change; `None` for whichever is there.
pub type IfMatch = Option<Revision>;

/// The monitor `id` of the caller's account; that of another account is as unknown as none.
pub(super) fn find_own(
    monitors: &MonitorCache,
    caller: &Caller,
    id: MonitorId,
) -> Result<Monitor, ServiceError> {
    monitors.get_for_customer(caller.customer, id).ok_or(ServiceError::NotFound)
}

/// As [`find_own`], where the monitor is to be changed: a file's is refused, and a version that is not `if_match`.
pub(super) fn find_changeable(
    monitors: &MonitorCache,
    caller: &Caller,
    id: MonitorId,
    if_match: IfMatch,
) -> Result<Monitor, ServiceError> {
    let monitor = find_own(monitors, caller, id)?;
    require_changeable(&monitor)?;
    match if_match {
        Some(wanted) if wanted != monitor.revision => Err(ServiceError::PreconditionFailed),
        _ => Ok(monitor),
    }
}

/// Refuses the monitor of a file.
pub(super) fn require_changeable(monitor: &Monitor) -> Result<(), ServiceError> {
    match &monitor.origin {
        Origin::File { key } => Err(ServiceError::Forbidden(format!(
            "This monitor is managed by a file on the server (key `{key}`); change it there"
        ))),
        _ => Ok(()),
    }
}
