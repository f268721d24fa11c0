//! API steps against a service that answers by what it is asked, over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod check;
mod flow;
mod judging;
mod logins;
mod requests;
mod secured;
mod service;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../support/tls_server.rs"]
mod tls_server;
mod variables;
