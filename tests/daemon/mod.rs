//! The daemon: metrics, logs, settings, pages, API, and the running process from outside.

mod agents;
mod certificates;
mod dependencies;
mod faults;
mod first_checks;
mod hosts;
pub mod ledger;
mod live;
mod locations;
mod metrics;
mod pages;
mod panics;
pub mod postgres_ledger;
pub mod process;
mod refused_start;
mod serving;
mod settings;
mod store_settings;
pub mod support;
mod unit_file;
