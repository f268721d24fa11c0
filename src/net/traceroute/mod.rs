//! The way to an address, hop by hop, over UDP or ICMP echo (issue 4 "Traceroute on error").
//!
//! Requests leave with growing hop limits; routers that let one die say so, and the kernel hands what they say
//! to the socket that sent it (`IP_RECVERR`). So the UDP form needs no privilege, and the ICMP form none where
//! the sysctl `net.ipv4.ping_group_range` lets this process have a socket for echo requests.

mod display;
mod options;
mod packet;
mod route;
mod run;
mod trace_socket;
mod tracer;

pub use self::route::{HopReply, Route, RouteEnd, RouteHop, TracerouteMethod};
pub use options::{Traceroute, TracerouteOptions};
