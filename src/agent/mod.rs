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
pub use attempt::attempt;
pub use check::{check, silenced};
pub use connectivity::Connectivity;
pub use contract::{ResultSink, Silence};
pub use full_pages::FullPages;
pub use gate::Limits;
pub use handle::{Change, RunnerHandle, Snapshot, Stopped};
pub use order::OrderError;
pub use place::Place;
pub use pulse::Pulse;
pub use runner::start;
