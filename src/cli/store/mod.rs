//! `vigie store`: checks, migrates, backs up, restores and copies the database.

mod backup;
mod check;
mod command;
mod copy;
mod database_args;
mod migrate;
mod progress;
mod restore;

pub(super) use command::{Args, run};
pub(super) use database_args::load_settings_with;
