//! Runs the checks of the command line.

use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::check_timeout::CheckTimeout;
use super::subject::CheckSubject;
use crate::cli::check_runner::CheckRunner;
use crate::domain::CheckResult;

/// Monitors of a file that are checked concurrently.
const MAX_CONCURRENT_CHECKS: usize = 8;

/// Checks `subjects`; returns the results in the same order. Checks that have none within `timeout` get its outcome.
pub(super) async fn run_checks(
    runner: &CheckRunner<'_>,
    subjects: &[CheckSubject],
    timeout: Option<CheckTimeout>,
) -> Vec<CheckResult> {
    let cancellation = CancellationToken::new();
    let checks = subjects.iter().map(|subject| runner.check(&subject.document, &cancellation));
    let checks = stream::iter(checks).buffered(MAX_CONCURRENT_CHECKS).collect::<Vec<_>>();
    tokio::pin!(checks);
    let mut results = match timeout {
        None => checks.await,
        Some(timeout) => {
            tokio::select! {
                results = &mut checks => results,
                () = tokio::time::sleep(timeout.duration) => {
                    cancellation.cancel();
                    // Cancelled checks end at once.
                    checks.await
                }
            }
        }
    };
    if let Some(timeout) = timeout {
        for result in &mut results {
            timeout.apply(result);
        }
    }
    runner.close_browsers().await;
    results
}
