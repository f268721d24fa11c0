//! QUIC connections (RFC 9000): UDP sockets with the source address of this location, the egress policy, and the facts
//! of the TLS 1.3 handshake.

mod client;
mod meter;
mod server_hello;

pub use client::{QuicConnection, quic_connection_failure};
pub use meter::QuicMeter;
