//! The store: one suite over its traits, and what is SQLite's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod make;
mod monitors;
mod results;
mod rollups;
mod suite;
