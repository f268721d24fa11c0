//! The HTTP server: several addresses, TLS, bounded connections, bounded time for everything that a client can
//! be slow at, graceful end.

mod connection;
mod crowd;
mod limits;
mod listen;
mod stall;
mod tls;

pub(super) use connection::HttpService;
pub(super) use listen::{bind, serve};
pub(super) use tls::ServerTls;
