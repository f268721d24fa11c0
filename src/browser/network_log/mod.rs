//! What the browser did meanwhile: its requests with their answers, and its console. Filled from what the
//! drivers tell, bounded, and read once a step.

mod bidi;
mod chrome;
mod log;
mod resource_timing;

pub use bidi::BidiListener;
pub use log::{LoggedRequest, NetworkActivity, NetworkLog};
pub use resource_timing::RESOURCE_TIMING_SCRIPT;
