//! Runs the parts of the bus again after each loss of the connection.

use std::time::Duration;

use super::connection::NatsError;

/// Pause before a part of the bus starts again.
pub(super) const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Runs `work`, the part `what` of the bus, again after each error and each end, for ever. Logs `problem` once for each
/// outage.
pub(super) async fn repeat<T>(what: &'static str, problem: &'static str, work: impl Fn() -> T)
where
    T: Future<Output = Result<(), NatsError>>,
{
    let mut has_failed = false;
    loop {
        match work().await {
            Ok(()) => has_failed = false,
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    tracing::warn!(what, error = %error, "{problem}; trying again every second");
                }
            }
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}
