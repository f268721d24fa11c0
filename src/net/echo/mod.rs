//! ICMP echo over one socket a family and location (RFC 792, RFC 4443 4).
//!
//! One socket serves all checks: a raw socket gets a copy of every ICMP packet of the host, so one for
//! each check would make n² copies of n checks. What is sent is told apart by a sequence number that is
//! never used twice while somebody waits for it.

mod icmp_error;
mod icmp_message;
mod open;
mod packet_filter;
mod rate_limit;
mod sockets;

pub use icmp_error::IcmpError;
pub use sockets::{EchoOutcome, EchoSocket, PendingEcho};
pub(super) use sockets::{EchoSockets, checksum};
