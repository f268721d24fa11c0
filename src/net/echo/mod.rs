//! ICMP echo over one socket per address family and location (RFC 792, RFC 4443 4).
//!
//! One socket serves all checks: a raw socket gets a copy of every ICMP packet of the host, so one for each of n checks
//! would cause n² copies. Requests are distinguished by a sequence number that is not reused while its reply is waited
//! for.

mod icmp_error;
mod icmp_message;
mod open;
mod packet_filter;
mod rate_limit;
mod sockets;

pub use icmp_error::IcmpError;
pub use sockets::{EchoResult, EchoSocket, PendingEcho};
pub(super) use sockets::{EchoSockets, internet_checksum};
