//! The store: one suite over its traits, what is SQLite's own, and the use cases of control over it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod alarms;
mod captures;
mod counts;
mod creates;
mod faults;
mod household;
mod ingestor;
mod killed;
#[path = "../support/lacking.rs"]
mod lacking;
mod ledger;
mod make;
mod monitors;
mod outbox;
mod provisioning;
mod results;
mod rollups;
mod suite;
mod tokens;
