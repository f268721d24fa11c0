//! Records of accounts beside monitors: users, locations, properties, certificates, blackouts, events, recipients
//! and the like. One set of handlers serves all kinds; `service::records` holds their rules.

mod alerting;
mod filters;
mod handlers;
mod record_operations;
mod routes;

pub(super) use filters::parse_time_range;
pub(super) use routes::add_routes;
