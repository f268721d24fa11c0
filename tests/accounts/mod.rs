//! Logins, users, tokens and secrets at rest, over a real SQLite store with a fake clock.

mod commands;
mod harness;
mod logins;
mod page_sessions;
mod rotation;
mod secrets;
mod throttles;
mod tokens;
mod users;
