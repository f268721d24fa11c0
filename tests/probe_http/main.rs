//! The HTTP probe against targets that do what a script says, over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod bodies;
mod check;
mod crowd;
#[path = "../support/daemon.rs"]
mod daemon;
mod digest;
mod http2;
mod http3;
#[path = "../support/lacking.rs"]
mod lacking;
mod logins;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../support/name_server.rs"]
mod name_server;
mod nginx;
mod places;
mod prefixes;
mod proxies;
mod requests;
mod server;
mod table;
mod through;
mod tls;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../support/tls_server.rs"]
mod tls_server;
