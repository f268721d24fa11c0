//! The probes of mail servers: loopback servers that do what a script says, and the real daemons.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod kit;
mod smtp;
