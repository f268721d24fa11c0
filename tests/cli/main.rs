//! What people see in a terminal: the built binary and the words that it draws.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod apply;
#[path = "../support/binary.rs"]
mod binary;
mod check;
#[path = "../support/closed.rs"]
mod closed;
mod config;
mod load;
mod reading;
mod render;
mod support;
mod traceroute;
