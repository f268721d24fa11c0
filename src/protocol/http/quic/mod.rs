//! HTTP/3 exchanges over a QUIC connection that somebody else opened (RFC 9114).

mod body;
mod client;
mod stream;
mod told;

pub(super) use body::QuicBody;
pub(super) use client::Line;
pub use client::open_quic;
