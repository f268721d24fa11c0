//! Browsers are had and nothing of them is left; their forward proxy lets through what it should. Real browsers,
//! where this host has them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod apart;
mod endings;
mod forward;
#[path = "../support/geckodriver.rs"]
mod geckodriver;
#[path = "../support/lacking.rs"]
mod lacking;
#[path = "../support/processes.rs"]
mod processes;
mod sessions;
#[path = "../support/tls_page.rs"]
mod tls_page;
#[path = "../support/tls_server.rs"]
#[allow(dead_code)]
mod tls_server;
mod world;
