//! Full pages: what is found in HTML and CSS, and how it is loaded.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::format_collect,
    missing_docs
)]

mod check;
mod http2;
#[path = "../support/lacking.rs"]
mod lacking;
mod loading;
mod memory;
mod nginx;
mod objects;
mod site;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../support/tls_server.rs"]
mod tls_server;
