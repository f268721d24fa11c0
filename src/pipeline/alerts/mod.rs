//! Alert engine: tracks the alert states of all monitors, fed by the ingest loop (`ingest`). Each batch of that loop
//! processes results, commands and timers and yields one transaction; effects outside the process start after it is
//! committed (architecture.md 4).

mod account_snapshots;
mod baseline;
mod batch;
mod command;
mod engine;
mod location_results;
mod locations;
mod monitor_changes;
mod monitor_rules;
mod notification_content;
mod notifications;
mod offline_locations;
mod panic_recovery;
mod parent_checks;
mod parents;
mod post_commit_actions;
mod settings;
mod states_to_restore;
mod store_records;
mod timer_heap;
mod traceroutes;
mod tracked_monitor;
mod verifications;

pub(super) use batch::{BatchOutput, PostCommitActions};
pub(super) use command::{HealthMap, IngestCommand};
pub use engine::AlertEngine;
pub use settings::{AlertEngineDependencies, AlertEngineSettings};
pub use store_records::episode_record;
