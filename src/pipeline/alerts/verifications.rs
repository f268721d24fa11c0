//! Asking another location to look at a failure (behaviour.md 5, 3 "70–79").

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

/// Questions that are asked at once.
const MAX_CONCURRENT: usize = 256;
/// Questions that wait for their turn; more are answered with 72 at once, which fails open.
const MAX_WAITING: usize = 20_000;
/// What a second location gets beyond the longest time that a check of the monitor may take.
const GRACE: Duration = Duration::from_secs(30);
/// Time until a location with too much to do is asked again.
const BUSY_RETRY_DELAY: Duration = Duration::from_secs(1);

/// A question that was kept and is to be asked.
pub(super) struct VerificationRequest {
    pub(super) monitor: Monitor,
    pub(super) planned_at: Timestamp,
    /// Who is asked.
    pub(super) location: LocationId,
    /// The longest time that a check of the monitor may take.
    pub(super) longest: Duration,
}

/// Questions under way.
#[derive(Clone)]
pub(super) struct VerificationRunner {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

impl Default for VerificationRunner {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_CONCURRENT)), waiting: Arc::default() }
    }
}

impl VerificationRunner {
    /// Whether one more can wait.
    pub(super) fn has_capacity(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < MAX_WAITING
    }

    /// Asks; the answer comes back as a word. Without one, because the process ends, it is asked again at the next
    /// start.
    pub(super) fn start(
        &self,
        request: VerificationRequest,
        dependencies: &AlertEngineDependencies,
        words: WeakSender<IngestCommand>,
    ) {
        let (asks, dependencies) = (self.clone(), dependencies.clone());
        self.waiting.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let (monitor, planned_at) = (request.monitor.id, request.planned_at);
            let limit = request.longest + GRACE;
            let answer = tokio::select! {
                answer = asks.run_verification(request, &dependencies) => answer,
                () = dependencies.clock.sleep(limit) => Some((Status::VERIFIED_NO_ANSWER, None, None)),
            };
            asks.waiting.fetch_sub(1, Ordering::Relaxed);
            let Some((status, location_id, found)) = answer else { return };
            let answer = Verification { status, location_id, found, at: dependencies.clock.now() };
            if let Some(words) = words.upgrade() {
                // Fails only at the end of the process.
                let _ = words.send(IngestCommand::VerificationDone { monitor, planned_at, answer }).await;
            }
        });
    }

    async fn run_verification(
        &self,
        request: VerificationRequest,
        dependencies: &AlertEngineDependencies,
    ) -> Option<VerificationOutcome> {
        // The semaphore is never closed.
        let _place = self.permits.acquire().await.ok()?;
        let location = Some(request.location);
        loop {
            match dependencies.planner.run_once(request.monitor.clone(), request.location).await {
                Ok(result) => return Some(outcome_from_result(&result, location)),
                Err(PlanError::Busy) => dependencies.clock.sleep(BUSY_RETRY_DELAY).await,
                Err(PlanError::LocationOffline) => return Some((Status::VERIFIED_UNAVAILABLE, None, None)),
                Err(PlanError::Stopped) => return None,
            }
        }
    }
}

/// Status of the answer, who gave it, what its check came to.
type VerificationOutcome = (Status, Option<LocationId>, Option<Status>);

fn outcome_from_result(result: &CheckResult, location: Option<LocationId>) -> VerificationOutcome {
    match result.outcome {
        Outcome::Ok | Outcome::Warning => (Status::VERIFIED_NO_ERROR, location, Some(result.status)),
        Outcome::Error => (Status::VERIFIED_CONFIRMED, location, Some(result.status)),
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => (Status::VERIFIED_INVALID, location, None),
    }
}

/// The answer when nobody is asked.
pub(super) fn not_verified(status: Status, at: Timestamp) -> Verification {
    Verification { status, location_id: None, found: None, at }
}
