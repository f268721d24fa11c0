//! Watches, outages and messages in SQLite.

mod alerting;
mod episodes;
mod outbox;
mod performance;
mod results;
pub(super) mod rows;
