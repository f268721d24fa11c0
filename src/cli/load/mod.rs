//! `vigie load`: many monitors through the whole pipeline, on this host alone.

mod command;
mod figures;
mod pipeline;
mod tally;
mod targets;
mod usage;

pub(super) use command::{Args, run};
