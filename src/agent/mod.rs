//! Attempts, local retry, limits and the runner. Knows no store, no bus and no API: monitors come in and
//! results go out through the doors here.

mod agenda;
mod assignment;
mod attempt;
mod backlog;
mod check;
mod connectivity;
mod contract;
mod gate;
mod handle;
mod pulse;
mod runner;

pub use assignment::Assignment;
pub use attempt::{FullPages, Place, attempt};
pub use check::{check, silenced};
pub use connectivity::Connectivity;
pub use contract::{ResultSink, Silence};
pub use gate::Limits;
pub use handle::{Change, OrderError, RunnerHandle, Snapshot, Stopped};
pub use pulse::Pulse;
pub use runner::start;
