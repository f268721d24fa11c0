//! The schedule as its callers see it: no drift, exact accounting of missed slots, no burst after a pause.

mod calendar;
mod pause;
mod planning;
mod run_plan;
