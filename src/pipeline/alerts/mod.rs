//! Who is to be woken, done: the watches of all monitors, fed by the loop that takes results (`ingest`), and what
//! follows from them. A turn of that loop takes results, words from elsewhere and the passing of time, and comes to
//! one transaction; what leaves the process begins after it was kept (architecture.md 4).

mod account_snapshots;
mod baseline;
mod batch;
mod command;
mod engine;
mod location_results;
mod locations;
mod monitor_changes;
mod monitor_entry;
mod monitor_rules;
mod notification_content;
mod notifications;
mod offline_locations;
mod post_commit;
mod restored_state;
mod settings;
mod stored_forms;
mod timer_heap;
mod traceroutes;
mod verifications;

pub(super) use batch::{BatchOutcome, PostCommitActions};
pub(super) use command::{HealthMap, IngestCommand};
pub use engine::AlertEngine;
pub use settings::{AlertEngineDependencies, AlertEngineSettings};
