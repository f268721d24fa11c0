//! The schedule as its callers see it: no drift, exact accounting of missed slots, no burst after a pause.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod calendar;
mod pause;
mod planning;
mod run_plan;
