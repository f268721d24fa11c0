//! The bus: everything that goes between the control plane and the locations. A contract, and what implements it: calls
//! in the process, which pass values and encode nothing.

pub mod contract;
mod in_process;
pub mod messages;
pub mod nats;

pub use in_process::InProcessBus;
