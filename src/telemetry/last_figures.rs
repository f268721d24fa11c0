//! What the metrics of monitors need of the last result of each, such as its phases: pages need not read results for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{CheckId, CheckResult, LocationId, MonitorId, Phase, Timestamp};
use crate::sync::Mutex;

/// Phases that are worth a series before the others, the most telling first.
const PHASES_FIRST: [Phase; 6] =
    [Phase::FirstByte, Phase::Connect, Phase::Tls, Phase::Resolve, Phase::Transfer, Phase::Echo];
/// Most results that are kept, each of about 150 bytes. Pages read further ones from the store.
const MAX_RESULTS: usize = 500_000;

/// Figures of a result that no state of a monitor has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultFigures {
    /// Microseconds by phase of its last attempt, the most telling phases first.
    pub phases: Box<[(Phase, u32)]>,
    /// When the certificate of the peer expires.
    pub certificate_end: Option<Timestamp>,
    /// How many steps failed; `None` for checks without steps.
    pub failed_steps: Option<u32>,
}

impl ResultFigures {
    /// Returns the figures of `result`.
    #[must_use]
    pub fn from_result(result: &CheckResult) -> Self {
        let mut phases: Vec<(Phase, u32)> = result.phases().iter().collect();
        let rank = |phase: Phase| PHASES_FIRST.iter().position(|first| *first == phase);
        phases.sort_by_key(|(phase, _)| rank(*phase).unwrap_or(PHASES_FIRST.len()));
        Self {
            phases: phases.into(),
            certificate_end: result.peer_certificate().map(|certificate| certificate.not_after),
            failed_steps: result.details.failed_steps(),
        }
    }
}

/// A check, and the figures of its result.
type Entry = (CheckId, Arc<ResultFigures>);

/// Figures of the last results, by monitor and location.
#[derive(Debug, Default)]
pub struct LastFigures(Mutex<HashMap<(MonitorId, LocationId), Entry>>);

impl LastFigures {
    /// Keeps the figures of `results` instead of those of earlier results.
    pub fn record<'a>(&self, results: impl Iterator<Item = &'a CheckResult>) {
        // They are computed before the lock is taken.
        let figures = results.map(|result| (result, Arc::new(ResultFigures::from_result(result))));
        self.keep(figures.collect());
    }

    /// Keeps these figures of `results`, which were computed already.
    pub fn keep(&self, results: Vec<(&CheckResult, Arc<ResultFigures>)>) {
        let mut last = self.0.lock();
        for (result, figures) in results {
            let key = (result.monitor_id, result.location_id);
            if last.len() < MAX_RESULTS || last.contains_key(&key) {
                last.insert(key, (result.check_id, figures));
            }
        }
    }

    /// Returns the figures of each of `checks`, in their order; `None` where they are not kept.
    pub fn get(
        &self,
        checks: impl Iterator<Item = (MonitorId, LocationId, CheckId)>,
    ) -> Vec<Option<Arc<ResultFigures>>> {
        let last = self.0.lock();
        let figures = |(monitor, location, check)| {
            let (of, figures) = last.get(&(monitor, location))?;
            (*of == check).then(|| Arc::clone(figures))
        };
        checks.map(figures).collect()
    }

    /// Removes those of monitors for which `exists` is false, once there are many more than `monitor_count`.
    pub fn forget_removed(&self, monitor_count: usize, exists: impl Fn(MonitorId) -> bool) {
        let mut last = self.0.lock();
        if last.len() > 2 * monitor_count + 1_000 {
            last.retain(|(monitor, _), _| exists(*monitor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CheckMetadata, MonitorType, Outcome, Revision, Status, Verdict};

    fn result(monitor: i64, planned_at: i64) -> CheckResult {
        let metadata = CheckMetadata {
            monitor_id: MonitorId(monitor),
            monitor_name: "Shop".into(),
            revision: Revision(1),
            monitor_type: MonitorType::Tcp,
            location_id: LocationId(1),
        };
        let verdict =
            Verdict { outcome: Outcome::Ok, status: Status::OK, warning_status: None, reasons: Vec::new() };
        let at = Timestamp::from_seconds(planned_at);
        CheckResult::without_attempts(metadata, at, at, verdict)
    }

    #[test]
    fn only_figures_of_the_wanted_check_are_returned() {
        let last = LastFigures::default();
        let (early, late, other) = (result(1, 60), result(1, 120), result(2, 120));
        last.record([&early, &other].into_iter());
        last.record(std::iter::once(&late));
        let key = |result: &CheckResult| (result.monitor_id, result.location_id, result.check_id);
        let found = last.get([&early, &late, &other].map(key).into_iter());
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn figures_of_removed_monitors_are_forgotten_once_there_are_many() {
        let last = LastFigures::default();
        let results: Vec<_> = (0..1_101).map(|monitor| result(monitor, 60)).collect();
        last.record(results.iter());
        let exists = |monitor: MonitorId| monitor.0 < 50;
        last.forget_removed(51, exists);
        assert_eq!(last.0.lock().len(), 1_101, "twice as many and a thousand may stay");
        last.forget_removed(50, exists);
        assert_eq!(last.0.lock().len(), 50);
    }
}
