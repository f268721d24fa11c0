//! When the objects of a page are looked at, and what is wrong with them: alike for pages that Vigie loads and
//! for those that a browser does (behaviour.md 4, full page; fields.md 3).

use std::time::Duration;

use crate::domain::{Failure, FailureKind, Fault, FullPage, PageObject, Phase, Timestamp};
use crate::schema::typed::alerting::FullPageSettings;

/// How much earlier than its interval a full page is due again: runs begin a little early or late.
const SLACK: Duration = Duration::from_secs(30);

/// What a monitor wants of the objects of its page.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullPageRule {
    /// Between two full pages.
    interval: Duration,
    /// How long one object may take.
    pub(super) object_timeout: Duration,
    /// Whether a page without objects is wrong.
    requires_objects: bool,
    /// Whether what is wrong with objects is an error.
    pub(super) is_error: bool,
}

impl FullPageRule {
    /// `None` when the monitor wants no full pages.
    pub(super) fn from_settings(settings: Option<FullPageSettings>) -> Option<Self> {
        let settings = settings?;
        let minutes = u64::try_from(settings.interval_fullpage).ok()?;
        let seconds = match settings.fullpage_object_timeout {
            0 => 10,
            seconds => u64::from(seconds),
        };
        Some(Self {
            interval: Duration::from_secs(minutes * 60),
            object_timeout: Duration::from_secs(seconds),
            requires_objects: settings.check_fullpage_missing_objects,
            is_error: settings.notify_on_fullpage_errors,
        })
    }

    /// Whether it is due now; `last` is when the last one began here (fields.md 3).
    pub(super) fn is_due(&self, last: Option<Timestamp>, now: Timestamp) -> bool {
        last.is_none_or(|last| now.since(last) + SLACK >= self.interval)
    }
    /// What is wrong with the objects, in one failure: the deadline before all else, then the first object that is
    /// the target's fault.
    pub(super) fn evaluate(&self, page: &FullPage, timed_out: bool, timeout: Duration) -> Option<Failure> {
        let failed: Vec<(&PageObject, &Failure)> =
            page.objects.iter().filter_map(|object| Some((object, object.failure.as_ref()?))).collect();
        if timed_out {
            let detail = format!(
                "{} of {} objects were not there after {} s",
                failed.len(),
                page.objects.len(),
                timeout.as_secs_f64()
            );
            return Some(Failure::new(Phase::Transfer, FailureKind::FullPageTimedOut, detail));
        }
        if page.objects.is_empty() && page.unlisted == 0 && self.requires_objects {
            return Some(Failure::new(Phase::Validate, FailureKind::PageObjectNone, ""));
        }
        let theirs = failed.iter().find(|(_, failure)| failure.fault != Fault::Ours);
        let (object, failure) = theirs.or(failed.first())?;
        let mut failure = (*failure).clone().into_page_object(&object.url);
        if object.third_party {
            failure.detail.push_str(" (of another site)");
        }
        if failed.len() > 1 {
            let foreign = failed.iter().filter(|(object, _)| object.third_party).count();
            let more = format!("; {} objects failed, {foreign} of them of other sites", failed.len());
            failure.detail.push_str(&more);
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
            is_error: false,
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
