//! Tests with real browsers: sessions, scripts played in them, and what remains of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod browser;
mod browser_pool;
mod console;
#[path = "security/browser_ports.rs"]
mod security_browser_ports;
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;
