//! `vigie test`: runs the monitors of files as a suite of tests.

mod command;
mod load;
mod run;
mod text;
mod to_json;

pub(super) use command::{Args, run};
