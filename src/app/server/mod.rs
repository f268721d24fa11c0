//! The HTTP server: several addresses, TLS, limited connections, timeouts for everything that a client can delay,
//! graceful shutdown.

mod client_connection;
mod connection;
mod connection_limiter;
mod forwarded_for;
mod health_connections;
mod idle_timeout;
mod limits;
mod listen;
mod tls;

pub(super) use client_connection::{ConnectionRules, client_connection, record_client_connection};
pub(super) use connection::HttpService;
pub(super) use listen::{bind_all, serve};
pub(super) use tls::ServerTls;
