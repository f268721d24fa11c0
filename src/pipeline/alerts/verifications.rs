//! Verification of failures by another location (behaviour.md 5, 3 "70–79").

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::WeakSender;

use super::command::IngestCommand;
use super::settings::AlertEngineDependencies;
use crate::domain::{CheckResult, LocationId, Outcome, Status, Timestamp, Verification};
use crate::pipeline::planner::PlanError;
use crate::schema::Monitor;
use crate::telemetry::fault_point;

/// Maximum number of verifications at once.
const MAX_CONCURRENT_VERIFICATIONS: usize = 256;
/// Most queued verifications; further ones end with status 72 at once, which lets the failure stand.
const MAX_PENDING_VERIFICATIONS: usize = 20_000;
/// Extra time beyond the longest check of the monitor.
const VERIFICATION_GRACE: Duration = Duration::from_secs(30);
/// Delay before a busy location is tried again.
const BUSY_RETRY_DELAY: Duration = Duration::from_secs(1);

/// A verification to start, after its request was committed.
pub(super) struct VerificationRequest {
    pub(super) monitor: Monitor,
    pub(super) planned_at: Timestamp,
    /// Location that verifies.
    pub(super) verifying_location: LocationId,
    /// Longest duration of a check of the monitor.
    pub(super) max_check_duration: Duration,
}

/// Runs verifications.
#[derive(Clone)]
pub(super) struct VerificationRunner {
    permits: Arc<Semaphore>,
    /// Verifications that run or wait for a permit.
    pending_count: Arc<AtomicUsize>,
}

impl Default for VerificationRunner {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(MAX_CONCURRENT_VERIFICATIONS)),
            pending_count: Arc::default(),
        }
    }
}

impl VerificationRunner {
    /// Whether another verification can be queued.
    pub(super) fn has_capacity(&self) -> bool {
        self.pending_count.load(Ordering::Relaxed) < MAX_PENDING_VERIFICATIONS
    }

    /// Takes a place among the pending verifications.
    fn count_as_pending(&self) -> PendingCountGuard {
        self.pending_count.fetch_add(1, Ordering::Relaxed);
        PendingCountGuard(Arc::clone(&self.pending_count))
    }

    /// Starts a verification; its outcome is sent as a command. When the process ends first, the verification is
    /// requested again at the next start.
    pub(super) fn start(
        &self,
        request: VerificationRequest,
        dependencies: &AlertEngineDependencies,
        command_sender: WeakSender<IngestCommand>,
    ) {
        let (runner, dependencies) = (self.clone(), dependencies.clone());
        let pending_guard = self.count_as_pending();
        tokio::spawn(async move {
            let (monitor_id, planned_at) = (request.monitor.id, request.planned_at);
            let timeout = request.max_check_duration + VERIFICATION_GRACE;
            let verification = AssertUnwindSafe(runner.run_verification(request, &dependencies));
            let finding = tokio::select! {
                // A panic is logged already; the failure is then alerted without a confirmation.
                finding = verification.catch_unwind() => {
                    finding.unwrap_or(Some((Status::VERIFICATION_NO_RESPONSE, None, None)))
                }
                () = dependencies.clock.sleep(timeout) => Some((Status::VERIFICATION_NO_RESPONSE, None, None)),
            };
            drop(pending_guard);
            let Some((status, location_id, found_status)) = finding else { return };
            let verification = Verification {
                status,
                location_id,
                recheck_status: found_status,
                completed_at: dependencies.clock.now(),
            };
            if let Some(command_sender) = command_sender.upgrade() {
                // Fails only at the end of the process.
                let _ = command_sender
                    .send(IngestCommand::VerificationDone { monitor_id, planned_at, verification })
                    .await;
            }
        });
    }

    /// Runs the check of a verification; `None` when the process stops first.
    async fn run_verification(
        &self,
        request: VerificationRequest,
        dependencies: &AlertEngineDependencies,
    ) -> Option<VerificationFinding> {
        // A verification does not use the store.
        let _ = fault_point("verification").await;
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.ok()?;
        let location = Some(request.verifying_location);
        loop {
            match dependencies
                .planner
                .run_check_now(request.monitor.clone(), request.verifying_location)
                .await
            {
                Ok(result) => return Some(finding_from_result(&result, location)),
                Err(PlanError::QueueFull) => dependencies.clock.sleep(BUSY_RETRY_DELAY).await,
                Err(PlanError::LocationOffline | PlanError::NoTarget) => {
                    return Some((Status::VERIFICATION_UNAVAILABLE, None, None));
                }
                Err(PlanError::TimedOut) => return Some((Status::VERIFICATION_NO_RESPONSE, None, None)),
                Err(PlanError::Stopped) => return None,
            }
        }
    }
}

/// A place among the pending verifications, free again however the verification ends.
struct PendingCountGuard(Arc<AtomicUsize>);

impl Drop for PendingCountGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Status of the verification, the location that verified, and the status of its check.
type VerificationFinding = (Status, Option<LocationId>, Option<Status>);

fn finding_from_result(result: &CheckResult, location: Option<LocationId>) -> VerificationFinding {
    match result.outcome {
        Outcome::Ok | Outcome::Warning => (Status::VERIFICATION_NO_ERROR, location, Some(result.status)),
        Outcome::Error => (Status::VERIFICATION_CONFIRMED, location, Some(result.status)),
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => {
            (Status::VERIFICATION_INVALID, location, None)
        }
    }
}

/// Returns the verification for a failure that no location could verify.
pub(super) fn verification_without_check(status: Status, at: Timestamp) -> Verification {
    Verification { status, location_id: None, recheck_status: None, completed_at: at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_verification_that_panics_gives_its_place_back() {
        let runner = VerificationRunner::default();
        let pending_guard = runner.count_as_pending();
        assert_eq!(runner.pending_count.load(Ordering::Relaxed), 1);
        let verification = tokio::spawn(async move {
            let _slot = pending_guard;
            panic!("in a verification");
        });
        assert!(verification.await.unwrap_err().is_panic());
        assert_eq!(runner.pending_count.load(Ordering::Relaxed), 0);
    }
}
