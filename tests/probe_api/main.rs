//! API steps against a service that answers by what it is asked, over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod check;
mod flow;
mod judging;
mod logins;
mod requests;
mod service;
mod variables;
