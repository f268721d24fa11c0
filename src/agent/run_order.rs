//! Orders of single runs: where their results go, and why they are refused.

use tokio::sync::oneshot;

use crate::domain::CheckResult;

/// Why an order was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunOrderError {
    /// The monitor is not planned here.
    #[error("the monitor is not planned at this location")]
    NotPlanned,
    /// Too many checks wait already.
    #[error("too many checks wait for a place; try again later")]
    Busy,
    /// The runner shuts down.
    #[error("the runner is shutting down")]
    Stopped,
}

/// Where the result of an order goes.
pub type ResultReply = oneshot::Sender<Result<CheckResult, RunOrderError>>;
