//! What an HTTP client does beyond one exchange: connections, cookies, logins, redirects.
//!
//! Nothing here judges an answer: a [`RequestChain`] asks, hands out every answer, and goes on when it is told to.
//! Each request gets a cold connection of its own, so that its phases mean the same every time.

mod connect_options;
pub mod evidence;
mod jar;
mod journey;
mod kept_headers;
mod login;
mod message;
mod pass;
mod record;
mod redirect;
mod request;

pub use connect_options::ConnectOptions;
pub use jar::CookieJar;
pub use journey::{ChainTrace, RequestChain};
pub use login::HttpCredentials;
pub use message::{is_same_origin, is_secret_header};
pub use pass::AuthState;
pub use record::{ExchangeRecord, content_type, truncate_for_result, version_name};
pub use redirect::{MAX_REDIRECTS as MOST_REDIRECTS, display_url, is_redirect, redirect_target};
pub use request::{RequestContext, RequestSpec};
