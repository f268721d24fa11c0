//! `vigie self`: what this host lacks for Vigie, and what packages of Vigie contain.

mod command;
mod host_check;
mod host_limits;
mod host_need;
mod shipped_files;

pub(super) use command::{Args, run};
