//! What an HTTP client does beyond one exchange: connections, cookies, logins, redirects.
//!
//! Nothing here judges an answer: a [`Journey`] asks, hands out every answer, and goes on when it is told to.
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

pub use connect_options::Way;
pub use jar::Jar;
pub use journey::{Journey, Travelled};
pub use login::Login;
pub use message::{is_same_origin, is_secret};
pub use pass::Pass;
pub use record::{Kept, of_media_type, short, version_name};
pub use redirect::{MOST as MOST_REDIRECTS, is_redirect, shown, target as redirect_target};
pub use request::{Client, Request};
