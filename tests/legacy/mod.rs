//! The legacy API over a real store: what comes in, what goes out, and every status.

mod edits;
mod lists;
mod logins;
pub mod support;
