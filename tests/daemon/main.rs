//! The daemon: metrics, logs, settings, pages, API, and the running process from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/lacking.rs"]
mod lacking;
mod metrics;
mod pages;
mod panics;
mod places;
mod process;
mod served;
mod settings;
mod support;
mod unit_file;
