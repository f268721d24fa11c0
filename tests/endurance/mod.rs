//! Tests the built binary over a longer time: killed repeatedly, as a demo, and under steady load. `VIGIE_FULL=1` runs
//! more rounds and the soak test (tests/run --full).

pub mod alerts;
mod browsers;
mod daemon;
mod demo;
pub mod kill;
mod soak;
