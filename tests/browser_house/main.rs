//! Browsers are had and nothing of them is left; their forward proxy lets through what it should. Real browsers,
//! where this host has them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod endings;
mod forward;
#[path = "../support/geckodriver.rs"]
mod geckodriver;
#[path = "../support/lacking.rs"]
mod lacking;
mod sessions;
#[path = "../support/tls_server.rs"]
#[allow(dead_code)]
mod tls_server;
mod world;
