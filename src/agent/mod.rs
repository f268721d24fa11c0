//! What a monitoring location runs: attempts, local retry, limits and the runner, behind the contract of the bus.
//! Independent of store and API: assignments and orders come in through `LocationAgent`, results go out through the
//! sink.

mod account_blackouts;
mod admission;
mod assignment;
mod assignment_files;
mod attempt;
mod check;
mod connectivity;
mod execution_context;
mod full_page_times;
mod interfaces;
mod isolation;
mod location_agent;
mod missed_backlog;
mod monitor_sharing;
mod on_demand_run;
mod outbox;
mod run_queue;
mod runner;
mod runner_handle;
mod stall_detector;
mod synced_clock;

pub use account_blackouts::AccountBlackouts;
pub use admission::AdmissionLimits;
pub use assignment::Assignment;
pub use assignment_files::{AssignmentFiles, StoredAssignments};
pub use attempt::run_attempt;
pub use check::{run_check, suppressed_by_blackout_result};
pub use connectivity::ConnectivityDetector;
pub use execution_context::ExecutionContext;
pub use full_page_times::FullPageTimes;
pub use interfaces::{BlackoutLookup, ProbeBuilder};
pub use location_agent::{LocationAgent, LocationAgentParts};
pub use monitor_sharing::MonitorSharing;
pub use on_demand_run::OnDemandRunError;
pub use outbox::{OutboxDependencies, OutboxTasks, ResultOutbox};
pub use runner::{MissedRunDelivery, Runner, RunnerHeartbeats, RunnerTasks, new_runner, start_runner};
pub use runner_handle::{AssignmentChange, RunnerHandle, RunnerStopped};
pub use stall_detector::StallDetector;
pub use synced_clock::SyncedClock;
