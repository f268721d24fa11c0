//! The probes of mail servers: loopback servers that do what a script says, and the real daemons.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/daemon.rs"]
mod daemon;
mod houses;
mod imap;
mod kit;
#[path = "../support/lacking.rs"]
mod lacking;
#[path = "../support/mail_house.rs"]
mod mail_house;
mod office;
mod pop;
mod smtp;
mod table;
#[path = "../support/tls_server.rs"]
#[allow(dead_code)]
mod tls_server;
mod trip;
