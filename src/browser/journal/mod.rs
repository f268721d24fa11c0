//! What the browser did meanwhile: its requests with their answers, and its console. Filled from what the
//! drivers tell, bounded, and read once a step.

mod bidi;
mod chrome;
mod log;
mod window;

pub use bidi::Listener;
pub use log::{Exchange, Journal, Pages};
pub use window::WINDOW;
