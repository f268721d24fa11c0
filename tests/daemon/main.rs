//! The daemon: metrics, logs, settings, pages, API, and the running process from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod certificates;
#[path = "../support/lacking.rs"]
mod lacking;
mod metrics;
mod pages;
mod panics;
mod places;
mod process;
mod served;
mod settings;
mod support;
#[path = "../support/tls_server.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod tls_server;
mod unit_file;
