//! The web pages (status, monitors, results, manual, sign-in) and the endpoints for monitoring systems: `/metrics`,
//! `/healthz`, `/readyz`. Pages are whole HTML documents that
//! can be read and used without scripts, and load nothing from other hosts.

mod actions;
mod apply_page;
mod assets;
mod bulk;
#[cfg(test)]
mod contrast_tests;
mod cookies;
mod csrf;
mod form;
mod forms;
mod health;
mod history;
mod history_bars;
mod host_values;
mod html;
mod known_hosts;
mod latency;
mod live;
mod location_switch;
mod locations_page;
mod locations_state;
mod manual;
mod minimum_rate_body;
mod monitor_metrics;
mod monitor_page;
mod monitors;
mod notice;
mod page_auth;
mod page_frame;
mod page_state;
mod palette;
mod phase_bar;
mod preferences;
mod preferences_form;
mod query_masks;
mod reliability;
mod request_id;
mod request_limits;
mod responses;
mod result;
mod router;
mod shares;
mod sign_in;
mod sign_in_form;
mod viewer;

pub use actions::ActionsState;
pub use form::records::AccountState;
pub use health::health_response;
pub use history::HistoryState;
pub use known_hosts::KnownHosts;
pub use live::LiveState;
pub use locations_state::LocationsState;
pub use monitor_metrics::metrics_permits;
pub use page_auth::{AddressRule, PageAuth};
pub use page_state::PageState;
pub use request_limits::{RequestLimits, with_common_middleware};
pub use router::{
    account_router, actions_router, history_router, live_router, locations_router, router, shares_router,
};
pub use shares::SharesState;
