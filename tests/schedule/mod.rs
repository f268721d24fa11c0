//! The schedule as its callers see it: no drift, every missed slot counted, no burst after a pause.

mod calendar;
mod pause;
mod planning;
mod run_plan;
