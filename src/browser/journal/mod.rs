//! What the browser did meanwhile: its requests with their answers, and its console. Filled from what the
//! drivers tell, bounded, and read once a step.

mod bidi;
mod chrome;
mod log;
mod window;

pub use bidi::BidiListener;
pub use log::{LoggedRequest, NetworkActivity, NetworkLog};
pub use window::RESOURCE_TIMING_SCRIPT;
