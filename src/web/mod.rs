//! The pages and the endpoints for machines that watch: status page, pages of monitors and results,
//! `/metrics`, `/healthz`, `/readyz`. Pages are whole HTML documents that need no script and nothing from elsewhere.

mod bar;
mod browser;
mod capture;
mod content_views;
mod details;
mod found;
mod gate;
mod guard;
mod health;
mod html;
mod monitor;
mod objects;
mod responses;
mod result;
mod router;
mod site;
mod status;
mod steps;
mod trail;

pub use gate::PageAuth;
pub use guard::{RequestLimits, with_request_limits};
pub use router::router;
pub use site::PageState;
