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
pub use files::{MONITOR_FILE_EXTENSIONS, read_for_apply, read_monitors};
pub use host_token::{
    HostToken, demo_folders, find_host_token, read_host_token, remove_host_token, write_host_token,
};
pub use keys::key_file_location;
pub use planner::{LocalPlanner, LocationAgent, PlannerDependencies, RecordedUntil};
pub use quiet::BlackoutCache;
pub use surroundings::KnownReferences;
