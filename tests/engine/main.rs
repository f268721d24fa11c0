//! The engine from outside: attempts, checks and the runner, on scripted probes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod back_pressure;
mod checks;
mod kit;
mod places;
mod real_time;
mod runner;
mod shutdown;
