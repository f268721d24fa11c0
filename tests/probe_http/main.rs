//! The HTTP probe against targets that do what a script says, over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod bodies;
mod check;
mod http2;
mod nginx;
mod places;
mod prefixes;
mod requests;
mod server;
mod table;
mod tls;
