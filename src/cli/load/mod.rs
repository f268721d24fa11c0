//! `vigie load`: runs many monitors through the whole pipeline, on this host alone, or computes what a cluster needs.

mod agents;
mod command;
mod memory_samples;
mod pipeline;
mod process_usage;
mod report;
mod run_counter;
mod simulation;
mod targets;

pub(super) use agents::{AgentsArgs, run_agents};
pub(super) use command::{Args, run};
