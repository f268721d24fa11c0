//! The tests that take long.
#![allow(dead_code, reason = "every test binary takes what it needs")]

/// Whether the long tests are enabled (`tests/run --full`).
pub fn full() -> bool {
    std::env::var("VIGIE_FULL").is_ok_and(|value| value == "1")
}
