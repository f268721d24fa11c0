//! Monitors changed by API calls, over a real store; and with the real engine.

mod changes;
mod concurrency;
mod engine;
mod failing;
pub mod kit;
mod places;
mod plans;
mod process;
mod restart;
mod rests;
mod shown;
