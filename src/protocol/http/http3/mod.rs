//! HTTP/3 exchanges over an existing QUIC connection (RFC 9114).

mod body;
mod client;
mod failure;
mod stream;

pub(super) use body::Http3Body;
pub(super) use client::Http3Connection;
pub use client::send_http3_request;
