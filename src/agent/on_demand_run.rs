//! Single runs on demand: their result channel and errors.

use tokio::sync::oneshot;

use crate::domain::CheckResult;

/// Why an on-demand run was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OnDemandRunError {
    /// The monitor is not planned here.
    #[error("the monitor is not planned at this location")]
    NotPlanned,
    /// Too many checks are waiting.
    #[error("too many checks are waiting; try again later")]
    QueueFull,
    /// The runner is shutting down.
    #[error("the runner is shutting down")]
    Stopped,
}

/// Receives the result of an on-demand run.
pub type OnDemandResultSender = oneshot::Sender<Result<CheckResult, OnDemandRunError>>;
