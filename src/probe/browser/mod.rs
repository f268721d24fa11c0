//! `browserscript`: a script that is run in a real browser (behaviour.md 8).

mod act_error;
mod actions;
mod assertions;
mod attempt;
mod capture;
mod capture_rule;
mod content_views;
mod describe;
mod dom;
mod element_failure;
mod inspect;
mod interactions;
mod load_error;
mod network_log_reader;
mod network_results;
mod options;
mod page_access;
mod page_reads;
mod page_results;
mod probe;
mod script_runner;
mod step_end;
mod step_recorder;
mod time_budget;
mod wait;
mod window_context;
mod windows;

pub use probe::build;
