//! Who may in, and secrets at rest: over a real SQLite store, with a clock that the tests hold.

mod commands;
mod kit;
mod logins;
mod rotation;
mod secrets;
mod tokens;
mod users;
