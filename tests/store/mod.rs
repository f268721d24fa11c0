//! The store: one suite over its traits, what is SQLite's own, and the use cases of control over it.

mod alarms;
mod captures;
mod counts;
mod creates;
mod faults;
mod household;
mod ingestor;
mod killed;
mod ledger;
mod make;
mod monitors;
mod outbox;
mod provisioning;
mod results;
mod rollups;
mod suite;
mod tokens;
