//! `browserscript`: a script that a real browser plays (behaviour.md 8).

mod acts;
mod ask;
mod budget;
mod capture;
mod capture_rule;
mod deed;
mod element;
mod inspect;
mod load_error;
mod must;
mod naming;
mod network;
mod options;
mod page;
mod pages;
mod places;
mod probe;
mod read;
mod recorder;
mod run;
mod runner;
mod step_end;
mod stopped;
mod views;
mod wait;
mod waterfall;
mod window;

pub use probe::build;
