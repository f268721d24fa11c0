//! `vigie load --agents`: a control plane, a NATS server, and many agents in a process of their own.

mod agents_command;
mod agents_load;
mod agents_process;
mod bus_traffic;
mod control_runtime;
mod measure;
mod monitors;
mod nats_server;
mod orders;
mod report;
mod run;
mod settings;
mod temporary_folder;

pub(in crate::cli) use agents_command::{AgentsArgs, run_agents};
pub(super) use agents_load::AgentsLoad;
pub(super) use run::run;
