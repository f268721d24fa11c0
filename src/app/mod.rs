//! Settings, wiring and shutdown: the only module that knows every concrete type.

mod account_certificates;
mod agent_overview;
mod agent_process;
mod alert_pipeline_handle;
mod browser_host;
mod browser_setup;
mod bus_events;
mod cached_browser_lookup;
mod combined_bus;
mod delivery_setup;
mod demo;
mod egress_review;
mod file_watch;
mod first_checks;
mod host_names;
mod host_probe_builder;
mod host_token;
mod key_file;
mod last_known_accounts;
mod liveness;
mod local_planner;
mod location_agents;
mod location_sealer;
mod monitor_files;
mod reload;
mod reloadable_parts;
mod remote_bus;
mod running_server;
mod serve;
mod server;
mod services;
mod settings_reference_review;
mod sign_in_link;
mod signals;
mod slots_recorded_until;
mod stored_config_review;
mod supervisor;
mod systemd;
mod validation_context;

pub use agent_process::{AgentOptions, HttpsRenewal, run_agent};
pub use browser_host::{BrowserHostOptions, run_browser_host};
pub use first_checks::FirstCheckTask;
pub use host_probe_builder::HostProbeBuilder;
pub use host_token::{
    HostTokenFile, demo_data_dirs, find_host_token, read_host_token, remove_host_token, write_host_token,
};
pub use key_file::key_file_location;
pub use last_known_accounts::LastKnownAccounts;
pub use local_planner::{LocalPlanner, PlannerDependencies, SlotsRecordedUntil};
pub use location_agents::{HostedAgent, LocationAgents};
pub use location_sealer::LocationSealer;
pub use monitor_files::{MONITOR_FILE_EXTENSIONS, config_files, read_monitors, read_monitors_for_apply};
pub use serve::{ServeOptions, serve};
pub use stored_config_review::find_stored_config_problems;
pub use supervisor::TaskFailure;
pub use validation_context::KnownReferences;
