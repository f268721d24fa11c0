//! QUIC connections (RFC 9000): a UDP socket that leaves as this location's connections do, the egress policy,
//! and the facts of its TLS 1.3 handshake.

mod client;
mod meter;
mod server_hello;

pub use client::{QuicConnection, connection_failure};
pub use meter::QuicMeter;
