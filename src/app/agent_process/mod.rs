//! `vigie agent run`: the agent of a location on a host of its own.

mod agent_network;
mod agent_port;
mod run;
mod stored_assignments;
mod token_renewal;

pub use run::{AgentOptions, run_agent};
pub use token_renewal::HttpsRenewal;
