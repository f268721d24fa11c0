//! Version 3 of the API: framework, monitors and tests on demand, called through its router over a real store.

mod alerting;
mod board;
mod bodies;
mod bulk;
mod bulk_actions;
mod caches;
mod dependencies;
mod error_texts;
mod events;
mod first_checks;
mod limits;
mod lists;
mod locking;
mod methods;
mod monitors;
mod on_demand;
mod properties;
mod results;
mod roles;
mod rollups;
mod schemas;
mod sla_report;
mod tenancy;
mod time_zones;
mod url_logins;
mod usage;
