//! Orders to a location, each with a deadline and a reply. A caller that drops the call does not wait for the reply;
//! the check goes on.

use std::net::IpAddr;
use std::time::Duration;

use super::assignment::AssignedMonitor;
use crate::domain::{MonitorId, Timestamp};

/// An order to check a monitor now, outside of its schedule: to verify a failure, to look at a monitor that others
/// depend on, or as a test on demand. It need not be planned there. The reply is the result, which is not delivered
/// otherwise.
#[derive(Clone, Debug)]
pub struct CheckOrder {
    /// The monitor. If it is planned there, it runs with its planned revision.
    pub monitor: AssignedMonitor,
    /// How long after its arrival the order is given up.
    pub timeout: Duration,
}

/// An order to run the first check of a planned monitor. The reply is whether it waits or runs: not when the monitor is
/// not planned there, or permits planned runs only. The result is delivered as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstCheckOrder {
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// Time of the change that causes it: the time of none of its planned runs.
    pub planned_at: Timestamp,
    /// How long after its arrival the order is given up.
    pub timeout: Duration,
}

/// An order to trace the route to the target of a monitor. The reply is the file `traceroute.txt`.
#[derive(Clone, Debug)]
pub struct TracerouteOrder {
    /// The monitor.
    pub monitor: AssignedMonitor,
    /// Traced instead of an address of the target: the one of the failed check.
    pub address: Option<IpAddr>,
    /// Longest that the traceroute may take.
    pub timeout: Duration,
}

/// Why an order has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// No agent of the location is connected.
    #[error("no agent of this location is online")]
    LocationOffline,
    /// Too many checks wait there.
    #[error("too many checks are queued; try again later")]
    QueueFull,
    /// The agent is shutting down.
    #[error("the agent of the location is shutting down")]
    Stopped,
    /// The deadline has passed.
    #[error("the location did not reply in time")]
    TimedOut,
    /// The monitor has no single target.
    #[error("the monitor has no target to trace the route to")]
    NoTarget,
}
