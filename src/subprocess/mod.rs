//! Processes of other programs on this host: groups, users, limits, reaping.

pub(crate) mod bounded;
pub(crate) mod group;
pub(crate) mod process_table;
pub(crate) mod processes;
pub(crate) mod profile;
pub(crate) mod tail;
pub(crate) mod user;
