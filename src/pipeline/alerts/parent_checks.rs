//! Checks of monitors that others depend on, outside of their schedule: one at a time for each of them, however many
//! monitors wait for it (behaviour.md 6, Dependencies).

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::WeakSender;

use super::command::{IngestCommand, ParentCheckResult};
use super::settings::AlertEngineDependencies;
use crate::alerting::PARENT_CHECK_TIMEOUT;
use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};
use crate::pipeline::planner::PlanError;
use crate::schema::Monitor;

/// Maximum number of these checks at once; further ones wait, within their 10 s.
const MAX_CONCURRENT_CHECKS: usize = 64;
/// Delay before a busy location is tried again.
const BUSY_RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long a failed check answers further requests, so that many monitors do not have their parent checked all the
/// time.
const FAILURE_LIFETIME: Duration = Duration::from_secs(10);

/// A failing run that waits for the checks of its parents: its monitor and planned time.
pub(super) type WaitingRun = (MonitorId, Timestamp);

/// A check of a parent, to be started once the alert state that waits for it is stored.
pub(super) struct ParentCheckRequest {
    pub(super) monitor: Monitor,
    pub(super) location: LocationId,
}

/// Answers to runs that waited: the parents whose check failed.
pub(super) type ParentCheckAnswers = Vec<(WaitingRun, Vec<MonitorId>)>;

/// The checks in progress, and the runs that wait for them.
pub(super) struct ParentChecks {
    permits: Arc<Semaphore>,
    /// The check of each parent that is in progress.
    checks: HashMap<MonitorId, CheckInProgress>,
    /// How many checks each run waits for.
    remaining_checks: HashMap<WaitingRun, usize>,
    /// For each parent whose check failed: when the last failed check started.
    last_failures: HashMap<MonitorId, Timestamp>,
}

/// A check in progress.
#[derive(Default)]
struct CheckInProgress {
    /// The runs that it answers when it is complete.
    waiting_runs: Vec<WaitingRun>,
    /// Whether it was started again for runs planned after the first check began. A repeat answers all its runs,
    /// whatever their planned time, so that a clock that was set back cannot repeat it for ever.
    is_repeat: bool,
}

impl Default for ParentChecks {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(MAX_CONCURRENT_CHECKS)),
            checks: HashMap::new(),
            remaining_checks: HashMap::new(),
            last_failures: HashMap::new(),
        }
    }
}

impl ParentChecks {
    /// Returns the first of `parents` whose check failed within `FAILURE_LIFETIME`; forgets older failures.
    pub(super) fn recently_failed_parent(
        &mut self,
        parents: &[MonitorId],
        now: Timestamp,
    ) -> Option<MonitorId> {
        self.last_failures.retain(|_, at| *at <= now && now < *at + FAILURE_LIFETIME);
        parents.iter().copied().find(|parent| self.last_failures.contains_key(parent))
    }

    /// Registers `run` as waiting for checks of `parents`; returns those whose check is not in progress and must start.
    pub(super) fn register_waiting_run(&mut self, run: WaitingRun, parents: &[MonitorId]) -> Vec<MonitorId> {
        self.remaining_checks.insert(run, parents.len());
        let mut parents_to_check = Vec::new();
        for parent in parents {
            let check = self.checks.entry(*parent).or_insert_with(|| {
                parents_to_check.push(*parent);
                CheckInProgress::default()
            });
            check.waiting_runs.push(run);
        }
        parents_to_check
    }

    /// Takes the outcome of the check of `parent`. Returns the answers to the runs that waited for nothing else, and
    /// whether the check has to be repeated: runs wait that began after it.
    pub(super) fn complete(
        &mut self,
        parent: MonitorId,
        check_result: ParentCheckResult,
    ) -> (ParentCheckAnswers, bool) {
        let mut answers = Vec::new();
        let mut later_runs = Vec::new();
        if check_result.has_failed {
            self.last_failures.insert(parent, check_result.started_at);
        }
        let CheckInProgress { waiting_runs, is_repeat } = self.checks.remove(&parent).unwrap_or_default();
        for run in waiting_runs {
            let Some(remaining) = self.remaining_checks.get_mut(&run) else { continue };
            if check_result.has_failed {
                self.remaining_checks.remove(&run);
                answers.push((run, vec![parent]));
            } else if run.1 > check_result.started_at && !is_repeat {
                later_runs.push(run);
            } else if *remaining > 1 {
                *remaining -= 1;
            } else {
                self.remaining_checks.remove(&run);
                answers.push((run, Vec::new()));
            }
        }
        let must_repeat = !later_runs.is_empty();
        if must_repeat {
            self.checks.insert(parent, CheckInProgress { waiting_runs: later_runs, is_repeat: true });
        }
        (answers, must_repeat)
    }

    /// Starts a check; its outcome is sent as a command, after 10 s at the latest.
    pub(super) fn start(
        &self,
        request: ParentCheckRequest,
        dependencies: &AlertEngineDependencies,
        command_sender: WeakSender<IngestCommand>,
    ) {
        let (permits, dependencies) = (Arc::clone(&self.permits), dependencies.clone());
        tokio::spawn(async move {
            let parent = request.monitor.id;
            let check = AssertUnwindSafe(run_check(&permits, request, &dependencies));
            let outcome = tokio::select! {
                // A panic is logged already.
                outcome = check.catch_unwind() => outcome.ok().flatten(),
                () = dependencies.clock.sleep(PARENT_CHECK_TIMEOUT) => None,
            };
            let outcome = outcome.unwrap_or(ParentCheckResult::UNKNOWN);
            if let Some(command_sender) = command_sender.upgrade() {
                // Fails only at the end of the process.
                let _ = command_sender.send(IngestCommand::ParentChecked { parent, outcome }).await;
            }
        });
    }
}

/// Runs the check; `None` when it cannot run.
async fn run_check(
    permits: &Semaphore,
    request: ParentCheckRequest,
    dependencies: &AlertEngineDependencies,
) -> Option<ParentCheckResult> {
    // The semaphore is never closed.
    let _permit = permits.acquire().await.ok()?;
    loop {
        let started_at = dependencies.clock.now();
        match dependencies.planner.run_check_now(request.monitor.clone(), request.location).await {
            Ok(result) => {
                let has_failed = result.outcome == Outcome::Error;
                return Some(ParentCheckResult { started_at, has_failed });
            }
            Err(PlanError::QueueFull) => dependencies.clock.sleep(BUSY_RETRY_DELAY).await,
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: MonitorId = MonitorId(1);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + second)
    }

    fn check_result(second: i64, has_failed: bool) -> ParentCheckResult {
        ParentCheckResult { started_at: at(second), has_failed }
    }

    #[test]
    fn a_thousand_runs_wait_for_one_check() {
        let mut checks = ParentChecks::default();
        let runs: Vec<WaitingRun> = (2..1002).map(|id| (MonitorId(id), at(0))).collect();
        let started: Vec<_> =
            runs.iter().flat_map(|run| checks.register_waiting_run(*run, &[PARENT])).collect();
        assert_eq!(started, [PARENT]);
        let (answers, must_repeat) = checks.complete(PARENT, check_result(1, true));
        assert_eq!((answers.len(), must_repeat), (1000, false));
        assert!(answers.iter().all(|(_, failed)| failed == &[PARENT]));
        assert!(checks.remaining_checks.is_empty() && checks.checks.is_empty());
        // The next ones within a moment need no check of their own.
        assert_eq!(checks.recently_failed_parent(&[MonitorId(9), PARENT], at(5)), Some(PARENT));
        assert_eq!(checks.recently_failed_parent(&[PARENT], at(11)), None);
    }

    #[test]
    fn a_check_that_passed_before_a_run_began_is_repeated_for_it() {
        let mut checks = ParentChecks::default();
        let (early, late) = ((MonitorId(2), at(0)), (MonitorId(3), at(5)));
        assert_eq!(checks.register_waiting_run(early, &[PARENT]), [PARENT]);
        assert_eq!(checks.register_waiting_run(late, &[PARENT]), []);
        assert_eq!(checks.complete(PARENT, check_result(1, false)), (vec![(early, Vec::new())], true));
        // Even if the clock was set back meanwhile.
        assert_eq!(checks.complete(PARENT, check_result(2, false)), (vec![(late, Vec::new())], false));
        assert!(checks.remaining_checks.is_empty() && checks.checks.is_empty());
    }

    #[test]
    fn a_run_is_answered_by_the_first_failure_or_by_the_last_pass() {
        let (run, other_parent) = ((MonitorId(3), at(0)), MonitorId(2));
        let mut checks = ParentChecks::default();
        assert_eq!(checks.register_waiting_run(run, &[PARENT, other_parent]), [PARENT, other_parent]);
        assert_eq!(checks.complete(PARENT, check_result(1, false)), (Vec::new(), false));
        assert_eq!(checks.complete(other_parent, check_result(2, false)), (vec![(run, Vec::new())], false));
        let mut checks = ParentChecks::default();
        checks.register_waiting_run(run, &[PARENT, other_parent]);
        assert_eq!(
            checks.complete(other_parent, check_result(1, true)),
            (vec![(run, vec![other_parent])], false)
        );
        assert_eq!(checks.complete(PARENT, check_result(2, true)), (Vec::new(), false));
        assert!(checks.remaining_checks.is_empty() && checks.checks.is_empty());
    }
}
