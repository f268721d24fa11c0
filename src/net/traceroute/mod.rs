//! Traceroute: the route to an address, hop by hop, over UDP or ICMP echo.
//!
//! Requests are sent with growing hop limits; a router at which the limit of a request is used up reports that, and
//! the kernel returns the report to the socket that sent it (`IP_RECVERR`). So UDP needs no privilege, and ICMP none
//! where the sysctl `net.ipv4.ping_group_range` allows this process a socket for echo requests.

mod display;
mod options;
mod packet;
mod route;
mod run;
mod trace_socket;
mod tracer;

pub use self::route::{HopReply, Route, RouteEnd, RouteHop, TracerouteMethod};
pub use options::{TracerouteOptions, TracerouteResult};
