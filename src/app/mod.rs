//! Settings, wiring and shutdown: the only place that knows every concrete type.

mod accounted;
mod boot;
mod browsers;
mod certificates;
mod delivery;
mod demo;
mod desk;
mod door;
mod files;
mod host_token;
mod keys;
mod outposts;
mod parts;
mod planner;
mod quiet;
mod reload;
mod server;
mod service;
mod signals;
mod surroundings;
mod vitals;
mod watch;

pub use boot::{ServeOptions, serve};
pub use files::{MONITOR_FILES, read_monitors, read_to_apply};
pub use host_token::{
    HostToken, demo_folders, find_host_token, host_token_of, remove_host_token, write_host_token,
};
pub use keys::key_place;
pub use planner::{LastPlanned, LocalPlanner, Outpost, PlannerParts};
pub use quiet::Quiet;
pub use surroundings::Known;
