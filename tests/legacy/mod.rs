//! The legacy API over a real store: requests, responses, and every status.

mod edits;
mod lists;
mod logins;
pub mod support;
