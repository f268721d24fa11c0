//! `vigie store`: checks, migrates, backs up and restores the database.

mod backup;
mod check;
mod command;
mod database_args;
mod migrate;
mod progress;
mod restore;

pub(super) use command::{Args, run};
