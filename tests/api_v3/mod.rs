//! Version 3 of the API: its framework, monitors and tests on demand, called through its router over a real
//! store.

mod alerting;
mod bodies;
mod bulk;
mod caches;
mod limits;
mod lists;
mod methods;
mod monitors;
mod results;
mod roles;
mod sla_report;
mod tenancy;
mod time_zones;
mod trials;
mod turns;
mod url_logins;
