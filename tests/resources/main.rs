//! What accounts have beside monitors, over a real store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod account;
mod blackouts;
mod bulk;
mod certificates;
mod events;
mod groups;
mod kit;
mod locations;
mod performance;
mod properties;
mod recipients;
#[path = "../support/tls_server.rs"]
#[allow(dead_code, reason = "not every test has a use for all of it")]
mod tls_server;
mod users;
