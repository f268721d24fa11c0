//! What a monitor and its account say of alerting, put together.

use crate::alerting::AlertPolicy;
use crate::catalog::AccountFacts;
use crate::domain::LocationId;
use crate::evaluate::certificate::ExpiryRule;
use crate::schema::Monitor;

use super::settings::AlertEngineSettings;
use crate::evaluate::page_comparison::PageComparisonRule;

/// What a version of a monitor says, ready for use.
pub(super) struct MonitorRules {
    /// Of alerting.
    pub(super) policy: AlertPolicy,
    /// Of certificates.
    pub(super) certificate_expiry: ExpiryRule,
    /// Of the objects of its page, where they are compared.
    pub(super) page_objects: Option<PageComparisonRule>,
}

/// The rules of this version of `monitor`.
pub(super) fn monitor_rules(
    monitor: &Monitor,
    facts: &AccountFacts,
    settings: AlertEngineSettings,
) -> MonitorRules {
    let wanted = monitor.document.settings();
    let pool: Vec<LocationId> = facts.location_pool(monitor).into_iter().map(LocationId).collect();
    let plan = monitor.run_plan(&pool);
    let expiry = wanted.certificate_dates.expiry_rule(facts.certificate_days);
    let policy = AlertPolicy {
        monitor_id: monitor.id,
        mode: wanted.location_mode,
        primary_location: plan.pool.first().copied().unwrap_or(LocationId(0)),
        run_plan: plan,
        quorum: facts.quorum,
        notify_on_error: wanted.alerting.notify_on_error,
        notify_on_content_change: wanted.full_page.is_some_and(|page| page.notify_on_content_change),
        notify_on_expiry: expiry != ExpiryRule::Disabled,
        traceroute: wanted.alerting.traceroute_on_error,
        no_data_runs: settings.no_data_runs,
    };
    let page = wanted.full_page.and_then(|page| page.comparison_rule(settings.size_tolerance_percent));
    MonitorRules { policy, certificate_expiry: expiry, page_objects: page }
}
