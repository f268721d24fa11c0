//! Version 3 of the API: its framework, monitors and tests on demand, called through its router over a real
//! store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod alerting;
#[path = "../support/app.rs"]
mod app;
mod bodies;
mod bulk;
mod limits;
mod lists;
mod methods;
mod monitors;
mod results;
mod roles;
mod sla_report;
mod tenancy;
mod trials;
mod turns;
mod url_logins;
