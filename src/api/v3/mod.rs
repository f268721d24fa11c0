//! Version 3, base `/api/v3` (behaviour.md 1). One file per group of paths; each adds its operations with
//! their handlers.

mod account;
mod audit;
mod bulk;
mod customers;
mod edits;
mod episodes;
mod export;
mod json_schema;
mod monitors;
mod notifications;
pub mod openapi;
mod records;
mod results;
mod router;
mod site_status;
mod sla_report;
mod tests_on_demand;
mod tokens;

pub use router::{operations, router};
