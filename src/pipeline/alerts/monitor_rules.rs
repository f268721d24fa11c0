//! Alerting rules of a monitor, combined with its account's settings.

use std::time::Duration;

use crate::alerting::AlertPolicy;
use crate::catalog::AccountSnapshot;
use crate::domain::LocationId;
use crate::evaluate::certificate::ExpiryRule;
use crate::schema::Monitor;

use super::settings::AlertEngineSettings;
use crate::evaluate::page_comparison::PageComparisonRule;

/// Alerting rules of one revision of a monitor.
pub(super) struct MonitorRules {
    /// Alerting settings.
    pub(super) policy: AlertPolicy,
    /// When to report certificates.
    pub(super) certificate_expiry: ExpiryRule,
    /// How to compare the objects of its page, if they are compared.
    pub(super) object_comparison: Option<PageComparisonRule>,
}

/// Builds the rules of this revision of `monitor`.
pub(super) fn build_monitor_rules(
    monitor: &Monitor,
    account: &AccountSnapshot,
    settings: AlertEngineSettings,
) -> MonitorRules {
    let monitor_settings = monitor.document.settings();
    let pool: Vec<LocationId> = account.location_pool_ids(monitor).into_iter().map(LocationId).collect();
    let run_plan = monitor.run_plan(&pool);
    let expiry_rule = monitor_settings.certificate_dates.expiry_rule(account.certificate_warning_days);
    let policy = AlertPolicy {
        monitor_id: monitor.id,
        location_mode: monitor_settings.location_mode,
        primary_location: run_plan.location_pool.first().copied().unwrap_or(LocationId(0)),
        run_plan,
        quorum: account.failure_quorum,
        notify_on_error: monitor_settings.alerting.notify_on_error,
        notify_on_content_change: monitor_settings
            .full_page
            .is_some_and(|full_page| full_page.notify_on_content_change),
        notify_on_expiry: expiry_rule != ExpiryRule::Disabled,
        traceroute_on_error: monitor_settings.alerting.traceroute_on_error,
        no_data_threshold: no_data_runs(settings.no_data_threshold, monitor.interval()),
    };
    let object_comparison = monitor_settings
        .full_page
        .and_then(|full_page| full_page.comparison_rule(settings.size_tolerance_percent));
    MonitorRules { policy, certificate_expiry: expiry_rule, object_comparison }
}

/// Returns how many runs without data in a row are reported: below a minute as many as take `threshold` minutes, since
/// seconds without data are not worth a call.
fn no_data_runs(threshold: u32, interval: Duration) -> u32 {
    let seconds = u32::try_from(interval.as_secs()).unwrap_or(u32::MAX).max(1);
    if seconds < 60 { threshold.saturating_mul(60).div_ceil(seconds) } else { threshold }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_data_cover_their_minutes_however_short_the_interval() {
        let runs = |seconds| no_data_runs(5, Duration::from_secs(seconds));
        assert_eq!([5, 20, 30, 60, 300].map(runs), [60, 15, 10, 5, 5]);
        assert_eq!(no_data_runs(0, Duration::from_secs(5)), 0, "0 turns it off");
    }
}
