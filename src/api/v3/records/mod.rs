//! What accounts have beside monitors: users, locations, properties, certificates, blackouts, events, recipients
//! and the like. One set of handlers serves all kinds; their rules stand in `control::resources`.

mod alerting;
mod filters;
mod handlers;
mod record_operations;
mod rights;
mod routes;

pub(super) use filters::time_range;
pub(super) use routes::routes;
