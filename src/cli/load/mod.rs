//! `vigie load`: runs many monitors through the whole pipeline, on this host alone.

mod command;
mod pipeline;
mod process_usage;
mod report;
mod run_counter;
mod targets;

pub(super) use command::{Args, run};
