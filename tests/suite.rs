//! Every test but those in real browsers, of the code's shape and of old TLS, in one binary, since each binary links
//! the whole library: a folder per capability.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod accounts;
mod alarms;
mod alert;
mod api_fields;
mod api_v3;
mod bulk;
mod cli;
mod daemon;
mod endurance;
mod engine;
mod fleet;
mod judge;
mod legacy;
mod model;
mod net;
mod notify;
mod page;
/// Of the fuzz targets, whose crates have it at this place too.
#[path = "fuzz/play.rs"]
mod play;
mod probe_api;
mod probe_ftp;
mod probe_http;
mod probe_mail;
mod probe_net;
mod replay;
mod resources;
mod responder;
mod schedule;
mod script;
mod store;
#[allow(dead_code, reason = "the tests in browsers use the rest of it")]
mod support;
