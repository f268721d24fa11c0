//! The activity of the browser: its requests with their responses, and its console. Filled from the reports of the
//! drivers, bounded, and read once per step.

mod bidi;
mod chrome;
mod log;
mod resource_timing;

pub use bidi::BidiListener;
pub use log::{LoggedRequest, NetworkActivity, NetworkLog};
pub use resource_timing::RESOURCE_TIMING_SCRIPT;
