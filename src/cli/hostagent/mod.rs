//! `vigie hostagent`: measures this host and reports to a server.

mod command;
mod token_source;

pub(super) use command::{Args, run};
