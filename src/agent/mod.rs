//! Attempts, local retry, limits and the runner. Knows no store, no bus and no API: monitors come in and
//! results go out through the doors here.

mod agenda;
mod assignment;
mod attempt;
mod backlog;
mod check;
mod connectivity;
mod contract;
mod cut_off;
mod full_pages;
mod gate;
mod handle;
mod order;
mod place;
mod pulse;
mod runner;

pub use assignment::Assignment;
pub use attempt::run_attempt;
pub use check::{blackout_result, run_check};
pub use connectivity::Connectivity;
pub use contract::{BlackoutLookup, ResultSink};
pub use full_pages::FullPageTimes;
pub use gate::AdmissionLimits;
pub use handle::{AssignmentChange, RunnerHandle, RunnerStats, RunnerStopped};
pub use order::RunOrderError;
pub use place::ExecutionContext;
pub use pulse::StallDetector;
pub use runner::start_runner;
