//! What an agent on another host has to deliver: kept on disk, sent, and sent again until the control plane has committed
//! it.

mod delivery_state;
mod delivery_states;
mod outbox_parts;
mod result_outbox;
mod send_backlog;
mod spooled;
mod tasks;
mod write_results;

pub use result_outbox::{OutboxDependencies, ResultOutbox};
pub use tasks::OutboxTasks;
