//! `vigie run`: runs a command, and reports its start and end to a push monitor.

mod child;
mod command;
mod job_secrets;
mod output_tail;
mod push_url;
mod pusher;

pub(super) use command::{Args, run};
