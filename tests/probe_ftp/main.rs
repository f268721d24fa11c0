//! The probes of `ftp` and `ftp-ssl`: cores on transcripts, servers that misbehave, real daemons, goldens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod check;
mod cores;
#[path = "../support/daemon.rs"]
mod daemon;
mod daemons;
#[path = "../support/ftp_user.rs"]
mod ftp_user;
mod goldens;
#[path = "../support/lacking.rs"]
mod lacking;
mod logs;
mod server;
mod sessions;
mod table;
#[path = "../support/tls_server.rs"]
#[allow(dead_code)]
mod tls_server;
