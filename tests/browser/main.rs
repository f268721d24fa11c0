//! Browser scripts, played in real browsers on a site of the tests' own (behaviour.md 8).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod acts;
mod check;
mod fields;
#[path = "../support/geckodriver.rs"]
mod geckodriver;
#[path = "../support/lacking.rs"]
mod lacking;
mod site;
mod statuses;
