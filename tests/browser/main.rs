//! Browser scripts, played in real browsers on a site of the tests' own (behaviour.md 8).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod acts;
mod bad;
mod bases;
mod check;
#[path = "../support/closed.rs"]
mod closed;
mod devices;
mod fields;
mod firefox;
mod flips;
#[path = "../support/geckodriver.rs"]
mod geckodriver;
#[path = "../support/lacking.rs"]
mod lacking;
mod objects;
mod patience;
#[path = "../support/processes.rs"]
mod processes;
mod secured;
mod site;
mod statuses;
mod table;
#[path = "../support/tls_page.rs"]
mod tls_page;
#[path = "../support/tls_server.rs"]
#[allow(dead_code)]
mod tls_server;
mod tracing;
