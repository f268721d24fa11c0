//! The built binary over a longer time: killed again and again, shown to a newcomer, and under steady load.
//! With `VIGIE_FULL=1` there are more rounds and the soak (tests/run --full).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod alerts;
mod browsers;
mod daemon;
mod demo;
#[path = "../support/geckodriver.rs"]
mod geckodriver;
mod kill;
#[path = "../support/lacking.rs"]
mod lacking;
mod soak;

/// Whether the long tests are asked for.
fn full() -> bool {
    std::env::var("VIGIE_FULL").is_ok_and(|value| value == "1")
}
