//! Which monitors a caller may see and change.

use crate::catalog::MonitorCache;
use crate::domain::{MonitorId, Revision};
use crate::schema::{Monitor, Origin};
use crate::service::caller::{Caller, ServiceError};

/// The revision that a caller wants to change; `None` for any.
pub type ExpectedRevision = Option<Revision>;

/// Returns the monitor `id` of the caller's account. A monitor of another account gives the same error as one that
/// does not exist.
pub(super) fn find_own_monitor(
    monitor_cache: &MonitorCache,
    caller: &Caller,
    id: MonitorId,
) -> Result<Monitor, ServiceError> {
    monitor_cache.get_for_customer(caller.customer, id).ok_or(ServiceError::NotFound)
}

/// Like [`find_own_monitor`], for a change: refuses monitors defined in files and revisions other than `if_match`.
pub(super) fn find_changeable_monitor(
    monitor_cache: &MonitorCache,
    caller: &Caller,
    id: MonitorId,
    if_match: ExpectedRevision,
) -> Result<Monitor, ServiceError> {
    let monitor = find_own_monitor(monitor_cache, caller, id)?;
    require_not_file_managed(&monitor)?;
    match if_match {
        Some(expected) if expected != monitor.revision => Err(ServiceError::PreconditionFailed),
        _ => Ok(monitor),
    }
}

/// Refuses monitors defined in files.
///
/// # Errors
/// [`ServiceError::Forbidden`], which names the key in the file.
pub fn require_not_file_managed(monitor: &Monitor) -> Result<(), ServiceError> {
    match &monitor.origin {
        Origin::File { key } => Err(ServiceError::Forbidden(format!(
            "This monitor is managed by a file on the server (key `{key}`); change it there"
        ))),
        _ => Ok(()),
    }
}
