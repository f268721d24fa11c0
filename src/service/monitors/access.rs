//! Which monitors a caller may see and change.

use crate::catalog::Roster;
use crate::domain::{MonitorId, Revision};
use crate::schema::{Monitor, Origin};
use crate::service::caller::{Caller, Refusal};

/// Which version a caller wants to change; `None` for whichever is there.
pub type IfMatch = Option<Revision>;

/// The monitor `id` of the caller's account; that of another account is as unknown as none.
pub(super) fn own(roster: &Roster, caller: &Caller, id: MonitorId) -> Result<Monitor, Refusal> {
    roster.of(caller.customer, id).ok_or(Refusal::NotFound)
}

/// As [`own`], where the monitor is to be changed: a file's is refused, and a version that is not `if_match`.
pub(super) fn changeable(
    roster: &Roster,
    caller: &Caller,
    id: MonitorId,
    if_match: IfMatch,
) -> Result<Monitor, Refusal> {
    let monitor = own(roster, caller, id)?;
    open_to_change(&monitor)?;
    match if_match {
        Some(wanted) if wanted != monitor.revision => Err(Refusal::Stale),
        _ => Ok(monitor),
    }
}

/// Refuses the monitor of a file.
pub(super) fn open_to_change(monitor: &Monitor) -> Result<(), Refusal> {
    match &monitor.origin {
        Origin::File { key } => Err(Refusal::Forbidden(format!(
            "This monitor is managed by a file on the server (key `{key}`); change it there"
        ))),
        _ => Ok(()),
    }
}
