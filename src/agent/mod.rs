//! Attempts, local retry, limits and the runner. Independent of store, bus and API: assignments come in and results go
//! out through the interfaces here.

mod admission;
mod assignment;
mod attempt;
mod check;
mod connectivity;
mod execution_context;
mod full_page_times;
mod interfaces;
mod isolation;
mod missed_backlog;
mod on_demand_run;
mod run_queue;
mod runner;
mod runner_handle;
mod stall_detector;

pub use admission::AdmissionLimits;
pub use assignment::Assignment;
pub use attempt::run_attempt;
pub use check::{run_check, suppressed_by_blackout_result};
pub use connectivity::ConnectivityDetector;
pub use execution_context::ExecutionContext;
pub use full_page_times::FullPageTimes;
pub use interfaces::{BlackoutLookup, ResultSink};
pub use on_demand_run::OnDemandRunError;
pub use runner::{MissedRunDelivery, Runner, RunnerHeartbeats, RunnerTasks, new_runner, start_runner};
pub use runner_handle::{AssignmentChange, RunnerHandle, RunnerStats, RunnerStopped};
pub use stall_detector::StallDetector;
