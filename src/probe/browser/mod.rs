//! `browserscript`: a script that a real browser plays (behaviour.md 8).

mod acts;
mod ask;
mod budget;
mod capture;
mod deed;
mod look;
mod must;
mod naming;
mod options;
mod pages;
mod places;
mod play;
mod probe;
mod read;
mod run;
mod views;
mod wait;
mod waterfall;

pub use probe::build;
