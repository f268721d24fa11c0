//! Monitors changed by API calls, over a real store and with the real check runner.

mod bus;
mod changes;
mod concurrency;
mod engine;
mod failures;
mod first_checks;
pub mod harness;
mod locations;
mod pauses;
mod plans;
mod process;
mod restart;
pub mod shown;
