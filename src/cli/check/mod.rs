//! `vigie check`: one check now, without a server.

mod command;
mod folder;
mod har;
mod run;
mod subject;
mod variable;

pub(super) use command::{Args, run};
