//! Who may in, and secrets at rest: over a real SQLite store, with a clock that the tests hold.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod commands;
mod kit;
mod logins;
mod rotation;
mod secrets;
mod tokens;
mod users;
