//! Alert states, episodes and notifications in SQLite.

mod alert_store;
mod episodes;
mod outbox;
mod performance;
pub(super) mod prepared_alerts;
mod result_updates;
