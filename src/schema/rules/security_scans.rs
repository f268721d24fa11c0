//! Warnings about security scans: what is not allowed, and what would run too often.

use super::rule_context::RuleInput;
use crate::domain::MonitorType;
use crate::schema::typed::security_scan::SecurityScanFields;

/// Shortest interval that gives no warning, in minutes.
const MIN_INTERVAL_MINUTES: u64 = 60;

/// Returns the warnings, one sentence each.
pub(super) fn warnings(input: &RuleInput<'_>) -> Vec<String> {
    let document = input.document;
    if document.monitor_type() != MonitorType::SecurityScan {
        return Vec::new();
    }
    let Ok(fields) = document.deserialize::<SecurityScanFields<'_>>() else { return Vec::new() };
    let host = fields.host().unwrap_or_default();
    let refusal = input.context.security_targets.and_then(|targets| targets.refusal_reason(&host));
    let refusal = refusal.map(|reason| format!("{reason}: scans from this server end as unknown, status 95"));
    let seconds = document.settings().interval().as_secs();
    let is_frequent = (seconds < MIN_INTERVAL_MINUTES * 60).then(|| {
        format!(
            "a scan opens hundreds of connections: an interval of {seconds} s is short, {MIN_INTERVAL_MINUTES} minutes or more are enough"
        )
    });
    let ignored_host = fields.hostname.map(str::trim).filter(|hostname| {
        fields.url.is_some() && !hostname.trim_matches(['[', ']']).eq_ignore_ascii_case(&host)
    });
    let ignored_host =
        ignored_host.map(|_| format!("`hostname` is not used: the host of `url`, `{host}`, is scanned"));
    [refusal, is_frequent, ignored_host].into_iter().flatten().collect()
}
