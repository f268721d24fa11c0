//! `vigie check`: runs one check now, without a server.

mod capture_folder;
mod command;
mod file_subject;
mod har;
mod run;
mod sarif;
mod subject;
mod variables;

pub(super) use command::{Args, run};
