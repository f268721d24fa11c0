//! What an HTTP client does beyond one exchange: connections, cookies, logins, redirects.
//!
//! Nothing here judges an answer: a [`RequestChain`] asks, hands out every answer, and goes on when it is told to.
//! Each request gets a cold connection of its own, so that its phases mean the same every time.

mod auth;
mod auth_state;
mod build_request;
pub mod captures;
mod connect_options;
mod cookie_jar;
mod header_list;
mod record;
mod redirect;
mod request;
mod request_chain;

pub use auth::HttpCredentials;
pub use auth_state::AuthState;
pub use build_request::{is_same_origin, is_secret_header};
pub use connect_options::ConnectOptions;
pub use cookie_jar::CookieJar;
pub use record::{ExchangeRecord, content_type, truncate_for_result, version_name};
pub use redirect::{MAX_REDIRECTS as MOST_REDIRECTS, display_url, is_redirect, redirect_target};
pub use request::{RequestContext, RequestSpec};
pub use request_chain::{ChainTrace, RequestChain};
