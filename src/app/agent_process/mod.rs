//! `vigie agent run`: the agent of a location on a host of its own.

mod agent_network;
mod agent_port;
mod run;
mod several_agents;
mod stored_assignments;
mod token_renewal;

pub use run::{AgentOptions, ResultObserver, run_agent};
pub use several_agents::AgentInProcess;
pub use token_renewal::HttpsRenewal;
