//! Version 3, base `/api/v3` (behaviour.md 1). One file per group of paths; each adds its operations with
//! their handlers.

mod access_tokens;
mod account;
mod agents;
mod audit;
mod bulk_edit_and_apply;
mod customers;
mod episodes;
mod event_series;
mod export;
mod hosts;
mod monitor_edits;
mod monitors;
mod notifications;
mod on_demand_tests;
pub mod openapi;
mod push_tokens;
mod records;
mod response_schemas;
mod result_shares;
mod results;
mod rollups;
mod router;
mod sign_in_links;
mod sla_report;
mod status_by_location;
mod usage;

pub use router::{operations, router};
