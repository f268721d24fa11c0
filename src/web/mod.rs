//! The web pages (status, monitors, results, manual, sign-in) and the endpoints for monitoring systems: `/metrics`,
//! `/healthz`, `/readyz`. Pages are whole HTML documents that need no script and load nothing from other hosts.

mod browser_details;
mod captures;
mod content_view_table;
#[cfg(test)]
mod contrast_tests;
mod cookies;
mod csrf;
mod details;
mod health;
mod html;
mod known_hosts;
mod locations_page;
mod locations_state;
mod manual;
mod minimum_rate_body;
mod monitor_page;
mod page_auth;
mod page_state;
mod phase_bar;
mod query_masks;
mod request_id;
mod request_limits;
mod responses;
mod result_lookup;
mod result_page;
mod router;
mod sign_in;
mod status_page;
mod steps;
mod viewer;
mod waterfall;

pub use health::health_response;
pub use known_hosts::KnownHosts;
pub use locations_state::LocationsState;
pub use page_auth::{AddressRule, PageAuth};
pub use page_state::PageState;
pub use request_limits::{RequestLimits, with_common_middleware};
pub use router::{locations_router, router};
