//! Rules of full page checks: when they are due, and how objects are evaluated. Used for pages that Vigie loads itself
//! and for those of browsers (behaviour.md 4, full page; fields.md 3).

use std::time::Duration;

use crate::domain::{Failure, FailureKind, Fault, PageLoad, PageObject, Phase, Timestamp};
use crate::schema::typed::alerting::FullPageSettings;

/// How much before the end of its interval a full page check is due again: runs start a little early or late.
const EARLY_START_TOLERANCE: Duration = Duration::from_secs(30);

/// The full page settings of a monitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullPageRule {
    /// Interval between two full page checks.
    interval: Duration,
    /// Limit of each object.
    pub(super) object_timeout: Duration,
    /// Whether a page without objects fails.
    requires_objects: bool,
    /// Whether failures of objects fail the check; otherwise they are warnings.
    pub(super) object_failures_fail_check: bool,
}

impl FullPageRule {
    /// Returns `None` when the monitor has no full page checks.
    pub(super) fn from_settings(settings: Option<FullPageSettings>) -> Option<Self> {
        let settings = settings?;
        let minutes = u64::try_from(settings.interval_minutes).ok()?;
        let seconds = match settings.object_timeout_seconds {
            0 => 10,
            seconds => u64::from(seconds),
        };
        Some(Self {
            interval: Duration::from_secs(minutes * 60),
            object_timeout: Duration::from_secs(seconds),
            requires_objects: settings.check_fullpage_missing_objects,
            object_failures_fail_check: settings.notify_on_fullpage_errors,
        })
    }

    /// Whether a full page is due now; `last_started_at` is when the last one started at this location (fields.md 3).
    pub(super) fn is_due(&self, last_started_at: Option<Timestamp>, now: Timestamp) -> bool {
        last_started_at
            .is_none_or(|last_started_at| now.since(last_started_at) + EARLY_START_TOLERANCE >= self.interval)
    }
    /// Returns the failure of the objects, if any: the exceeded deadline, else the first object failure that is not
    /// an error of Vigie itself, else the first failure.
    pub(super) fn evaluate(&self, page: &PageLoad, timed_out: bool, timeout: Duration) -> Option<Failure> {
        let failed: Vec<(&PageObject, &Failure)> =
            page.objects.iter().filter_map(|object| Some((object, object.failure.as_ref()?))).collect();
        if timed_out {
            let detail = format!(
                "{} of {} objects were not loaded after {} s",
                failed.len(),
                page.objects.len(),
                timeout.as_secs_f64()
            );
            return Some(Failure::new(Phase::Transfer, FailureKind::FullPageTimedOut, detail));
        }
        if page.objects.is_empty() && page.unlisted_objects == 0 && self.requires_objects {
            return Some(Failure::new(Phase::Validate, FailureKind::NoPageObjects, ""));
        }
        let first_external = failed.iter().find(|(_, failure)| failure.fault != Fault::Vigie);
        let (object, failure) = first_external.or(failed.first())?;
        let mut failure = (*failure).clone().into_page_object_failure(&object.url);
        if object.third_party {
            failure.detail.push_str(" (of another site)");
        }
        if failed.len() > 1 {
            let third_party_count = failed.iter().filter(|(object, _)| object.third_party).count();
            let count_detail =
                format!("; {} objects failed, {third_party_count} of them third-party", failed.len());
            failure.detail.push_str(&count_detail);
        }
        Some(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_is_due_at_the_first_run_after_its_interval() {
        let rule = |minutes: u64| FullPageRule {
            interval: Duration::from_secs(minutes * 60),
            object_timeout: Duration::from_secs(10),
            requires_objects: false,
            object_failures_fail_check: false,
        };
        let now = Timestamp::from_seconds(1_700_000_000);
        let ago = |seconds: u64| Some(now - Duration::from_secs(seconds));
        for (minutes, last, due) in [
            (60, None, true),
            (60, ago(3600), true),
            (60, ago(3599), true),
            (60, ago(3300), false),
            (1, ago(60), true),
            (2, ago(60), false),
            (5, ago(300), true),
        ] {
            assert_eq!(rule(minutes).is_due(last, now), due, "{minutes} min, {last:?}");
        }
    }
}
