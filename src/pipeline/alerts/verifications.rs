//! Verification of failures by another location (behaviour.md 5, 3 "70–79").

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::WeakSender;

use super::command::IngestCommand;
use super::settings::AlertEngineDependencies;
use crate::domain::{CheckResult, LocationId, Outcome, Status, Timestamp, Verification};
use crate::pipeline::planner::PlanError;
use crate::schema::Monitor;

/// Maximum number of verifications at once.
const MAX_CONCURRENT_VERIFICATIONS: usize = 256;
/// Most queued verifications; further ones end with 72 at once, which fails open.
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

    /// Starts a verification; its outcome is sent as a command. When the process ends first, the verification is
    /// requested again at the next start.
    pub(super) fn start(
        &self,
        request: VerificationRequest,
        dependencies: &AlertEngineDependencies,
        command_sender: WeakSender<IngestCommand>,
    ) {
        let (runner, dependencies) = (self.clone(), dependencies.clone());
        self.pending_count.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let (monitor_id, planned_at) = (request.monitor.id, request.planned_at);
            let timeout = request.max_check_duration + VERIFICATION_GRACE;
            let outcome = tokio::select! {
                outcome = runner.run_verification(request, &dependencies) => outcome,
                () = dependencies.clock.sleep(timeout) => Some((Status::VERIFICATION_NO_RESPONSE, None, None)),
            };
            runner.pending_count.fetch_sub(1, Ordering::Relaxed);
            let Some((status, location_id, found_status)) = outcome else { return };
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

    async fn run_verification(
        &self,
        request: VerificationRequest,
        dependencies: &AlertEngineDependencies,
    ) -> Option<VerificationOutcome> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.ok()?;
        let location = Some(request.verifying_location);
        loop {
            match dependencies
                .planner
                .run_check_now(request.monitor.clone(), request.verifying_location)
                .await
            {
                Ok(result) => return Some(outcome_from_result(&result, location)),
                Err(PlanError::QueueFull) => dependencies.clock.sleep(BUSY_RETRY_DELAY).await,
                Err(PlanError::LocationOffline) => {
                    return Some((Status::VERIFICATION_UNAVAILABLE, None, None));
                }
                Err(PlanError::Stopped) => return None,
            }
        }
    }
}

/// Status of the verification, the location that verified, and the status of its check.
type VerificationOutcome = (Status, Option<LocationId>, Option<Status>);

fn outcome_from_result(result: &CheckResult, location: Option<LocationId>) -> VerificationOutcome {
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
