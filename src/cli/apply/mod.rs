//! `vigie apply`: monitors and hosts as code.

mod changes;
mod command;
mod hosts;

pub(super) use command::{Args, run};
