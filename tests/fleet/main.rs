//! Monitors changed by API calls, over a real store; and with the real engine.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod changes;
mod concurrency;
mod engine;
mod failing;
mod kit;
mod places;
mod plans;
mod process;
mod restart;
mod rests;
mod shown;
