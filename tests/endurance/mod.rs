//! The built binary over a longer time: killed again and again, shown to a newcomer, and under steady load.
//! With `VIGIE_FULL=1` there are more rounds and the soak (tests/run --full).

mod alerts;
mod browsers;
mod daemon;
mod demo;
mod kill;
mod soak;

/// Whether the long tests are asked for.
fn full() -> bool {
    std::env::var("VIGIE_FULL").is_ok_and(|value| value == "1")
}
