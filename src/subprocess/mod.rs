//! Processes of other programs on this host: groups, users, limits, reaping.

pub(crate) mod browser_profile;
pub(crate) mod driver_log;
pub(crate) mod os_user;
pub(crate) mod process_group;
mod process_sockets;
pub(crate) mod process_table;
pub(crate) mod procfs;
pub(crate) mod response_limit_connector;
