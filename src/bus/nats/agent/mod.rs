//! The side of an agent.

mod agent_bus;
mod agent_parts;
mod assignment_follower;
mod clock_offset;
mod order_responder;
mod reported_state;
mod reports;
mod result_transport;

pub use agent_bus::{AgentBus, AgentBusDependencies};
pub use agent_parts::AgentIdentity;
pub use clock_offset::measure_clock_offset;
pub use reported_state::ask_reported_state;
pub use result_transport::NatsResultTransport;
