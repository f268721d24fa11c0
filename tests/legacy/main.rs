//! The legacy API over a real store: what comes in, what goes out, and every status.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/app.rs"]
mod app;
mod edits;
mod lists;
mod logins;
mod support;
