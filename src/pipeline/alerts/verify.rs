//! Asking another location to look at a failure (behaviour.md 5, 3 "70–79").

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::WeakSender;

use super::input::Word;
use super::settings::LookoutParts;
use crate::domain::{CheckResult, LocationId, Outcome, Status, Timestamp, Verification};
use crate::pipeline::planner::PlanError;
use crate::schema::Monitor;

/// Questions that are asked at once.
const AT_ONCE: usize = 256;
/// Questions that wait for their turn; more are answered with 72 at once, which fails open.
const WAITING: usize = 20_000;
/// What a second location gets beyond the longest time that a check of the monitor may take.
const GRACE: Duration = Duration::from_secs(30);
/// Time until a location with too much to do is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// A question that was kept and is to be asked.
pub(super) struct Ask {
    pub(super) monitor: Monitor,
    pub(super) planned_at: Timestamp,
    /// Who is asked.
    pub(super) location: LocationId,
    /// The longest time that a check of the monitor may take.
    pub(super) longest: Duration,
}

/// Questions under way.
#[derive(Clone)]
pub(super) struct Asks {
    places: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

impl Default for Asks {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), waiting: Arc::default() }
    }
}

impl Asks {
    /// Whether one more can wait.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < WAITING
    }

    /// Asks; the answer comes back as a word. Without one, because the process ends, it is asked again at the next
    /// start.
    pub(super) fn send(&self, ask: Ask, parts: &LookoutParts, words: WeakSender<Word>) {
        let (asks, parts) = (self.clone(), parts.clone());
        self.waiting.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let (monitor, planned_at) = (ask.monitor.id, ask.planned_at);
            let limit = ask.longest + GRACE;
            let answer = tokio::select! {
                answer = asks.asked(ask, &parts) => answer,
                () = parts.clock.sleep(limit) => Some((Status::VERIFIED_NO_ANSWER, None, None)),
            };
            asks.waiting.fetch_sub(1, Ordering::Relaxed);
            let Some((status, location_id, found)) = answer else { return };
            let answer = Verification { status, location_id, found, at: parts.clock.now() };
            if let Some(words) = words.upgrade() {
                // Fails only at the end of the process.
                let _ = words.send(Word::Answered { monitor, planned_at, answer }).await;
            }
        });
    }

    async fn asked(&self, ask: Ask, parts: &LookoutParts) -> Option<Said> {
        // The semaphore is never closed.
        let _place = self.places.acquire().await.ok()?;
        let location = Some(ask.location);
        loop {
            match parts.planner.check_once(ask.monitor.clone(), ask.location).await {
                Ok(result) => return Some(said(&result, location)),
                Err(PlanError::Busy) => parts.clock.sleep(AGAIN).await,
                Err(PlanError::Away) => return Some((Status::VERIFIED_UNAVAILABLE, None, None)),
                Err(PlanError::Stopped) => return None,
            }
        }
    }
}

/// Status of the answer, who gave it, what its check came to.
type Said = (Status, Option<LocationId>, Option<Status>);

fn said(result: &CheckResult, location: Option<LocationId>) -> Said {
    match result.outcome {
        Outcome::Ok | Outcome::Warning => (Status::VERIFIED_NO_ERROR, location, Some(result.status)),
        Outcome::Error => (Status::VERIFIED_CONFIRMED, location, Some(result.status)),
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => (Status::VERIFIED_INVALID, location, None),
    }
}

/// The answer when nobody is asked.
pub(super) fn unasked(status: Status, at: Timestamp) -> Verification {
    Verification { status, location_id: None, found: None, at }
}
