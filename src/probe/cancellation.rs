//! Ends attempts that are cancelled.

use std::pin::Pin;

use super::probe_trait::ProbeContext;
use crate::domain::{Failure, FailureKind, Phase};

/// Returns the failure of an attempt that was cancelled in `phase`.
pub(super) fn cancelled_failure(phase: Phase) -> Failure {
    Failure::new(phase, FailureKind::Cancelled, "cancelled before it finished")
}

/// Runs `work` until it ends or the attempt is cancelled. It stays where the caller pinned it: these futures are large.
///
/// # Errors
/// Fails with [`FailureKind::Cancelled`].
pub(super) async fn until_cancelled<T>(
    cx: ProbeContext<'_>,
    work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        result = work => Ok(result),
        () = cx.cancel.cancelled() => Err(cancelled_failure(Phase::Prepare)),
    }
}
