//! An HTTP client on top of single exchanges: connections, cookies, logins, redirects.
//!
//! It evaluates no responses: a [`RequestChain`] sends requests, returns every response, and continues on request. Each
//! request uses a new connection, so that its phases are comparable.

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
mod request_url;
mod status_text;

pub use auth::HttpCredentials;
pub use auth_state::AuthState;
pub use build_request::{is_same_origin, is_secret_header};
pub use connect_options::ConnectOptions;
pub use cookie_jar::CookieJar;
pub use record::{ExchangeRecord, content_type, truncate_for_result, version_name};
pub use redirect::{MAX_REDIRECTS, RedirectMethod, RedirectRule, display_url, is_redirect, redirect_target};
pub use request::{RequestContext, RequestSpec};
pub use request_chain::{ChainTrace, RequestChain};
pub use request_url::{
    MAX_URL_BYTES, is_http_url, parse_request_url, remove_login, remove_login_and_fragment,
};
pub use status_text::{describe_status, unfollowed_redirect_note};
