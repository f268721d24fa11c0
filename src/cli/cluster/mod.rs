//! `vigie cluster`: a whole installation of several controllers and agents on this host, to look at and to break.

mod cluster_folder;
mod command;
mod demo;
mod kill;
mod member;
mod monitors;
mod programs;
mod set_up;

pub(super) use command::{Args, run};
