//! `browserscript`: a script that is run in a real browser (behaviour.md 8).

mod action_error;
mod actions;
mod attempt;
mod capture;
mod capture_rule;
mod content_view_evaluation;
mod current_page;
mod descriptions;
mod dom;
mod element_lookup_failure;
mod interactions;
mod load_error;
mod network_log_reader;
mod network_results;
mod options;
mod page_documents;
mod page_inspection;
mod page_reads;
mod page_results;
mod probe;
mod script_browser;
mod script_runner;
mod step_recorder;
mod step_results;
mod text_condition;
mod time_budget;
mod wait;
mod windows;

pub use probe::build;
