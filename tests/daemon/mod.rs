//! The daemon: metrics, logs, settings, pages, API, and the running process from outside.

mod certificates;
mod metrics;
mod pages;
mod panics;
mod places;
mod process;
mod refused_start;
mod served;
mod settings;
mod support;
mod unit_file;
