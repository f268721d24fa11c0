//! Warnings about an accepted document (fields.md 2, behaviour.md 3 and 4).

use std::time::Duration;

use super::super::monitor_document::MonitorDocument;
use super::browsers::missing_browser_warning;
use super::rule_context::RuleInput;
use super::{collections, host_agent, scripts, security_scans};
use crate::domain::MonitorType;
use crate::schema::typed::security_scan::SECURITY_SCAN_TIME_LIMIT;
use crate::script::language::Script;

/// Returns the warnings, one sentence each.
pub(crate) fn warnings(input: &RuleInput<'_>) -> Vec<String> {
    let warnings = [
        unused_address_warning(input),
        unused_certificate_days_warning(input),
        attempts_exceed_interval_warning(input),
        unsupported_tls_version_warning(input),
        http3_without_tls_warning(input),
        http3_with_old_tls_warning(input),
        unsupported_type_warning(input),
        missing_browser_warning(input.document, input.context.browsers),
    ];
    warnings
        .into_iter()
        .flatten()
        .chain(host_agent::warnings(input))
        .chain(scripts::warnings(input))
        .chain(collections::warnings(input))
        .chain(security_scans::warnings(input))
        .collect()
}

fn unused_address_warning(input: &RuleInput<'_>) -> Option<String> {
    let document = input.document;
    let field = ["ipv4", "ip_address"].into_iter().find(|field| document.text(field).is_some())?;
    let is_unused = document.flag("resolve_dns");
    is_unused.then(|| format!("`{field}` is not used: `resolve_dns` is true, so the name is resolved"))
}

fn unused_certificate_days_warning(input: &RuleInput<'_>) -> Option<String> {
    let document = input.document;
    let dates = document.text("check_ssl_expiration_dates")?;
    let is_unused = dates != "Expiring" && document.int_or_zero("certificate_days") != 0;
    is_unused.then(|| {
        format!("`certificate_days` is not used: `check_ssl_expiration_dates` is {dates}, not Expiring")
    })
}

fn attempts_exceed_interval_warning(input: &RuleInput<'_>) -> Option<String> {
    let document = input.document;
    let schedule = document.settings().schedule;
    let attempts = if schedule.retry_on_failure { 2 } else { 1 };
    let (max_seconds, interval_seconds) =
        (attempts * max_attempt_seconds(document), document.settings().interval().as_secs().cast_signed());
    (max_seconds > interval_seconds).then(|| {
        format!(
            "{attempts} attempts may take {max_seconds} s, longer than the interval of {interval_seconds} s: runs are skipped then"
        )
    })
}

/// Returns the seconds that one attempt may take; for a script the sum of its steps (fields.md 3, `step_timeout`).
fn max_attempt_seconds(document: &MonitorDocument) -> i64 {
    let settings = document.settings();
    match document.monitor_type() {
        MonitorType::BrowserScript => {}
        MonitorType::SecurityScan => return SECURITY_SCAN_TIME_LIMIT.as_secs().cast_signed(),
        _ => return settings.schedule.timeout_seconds.into(),
    }
    let script = match document.script().filter(|script| !script.is_empty()) {
        // A script that cannot be parsed does not run.
        Some(text) => Script::parse(text).unwrap_or_default(),
        None => Script::from_url(document.url().unwrap_or_default()),
    };
    let page_timeout = Duration::from_secs(settings.schedule.timeout_seconds.into());
    let step_timeout = settings.step_timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    i64::try_from(script.max_duration(page_timeout, step_timeout).as_secs()).unwrap_or(i64::MAX / 2)
}

fn unsupported_tls_version_warning(input: &RuleInput<'_>) -> Option<String> {
    let version = input.document.text("use_ssl_version").filter(|version| !version.is_empty())?;
    let supported = input.context.supported_tls_versions.is_none_or(|supported| supported.contains(&version));
    let warning = |unsupported_by: &str, hint: &str| {
        format!(
            "`use_ssl_version` `{version}` is not supported by {unsupported_by}: checks end as unknown, status 95{hint}"
        )
    };
    match version {
        "2" => Some(warning("any build", "")),
        _ if !supported => {
            Some(warning("this build", "; one that is built with `--features legacy-tls` can"))
        }
        _ => None,
    }
}

fn http3_without_tls_warning(input: &RuleInput<'_>) -> Option<String> {
    let document = input.document;
    let is_plain_http = document.text("url").is_some_and(|url| url.starts_with("http://"));
    let is_http3_requested = document.text("http_version") == Some("3");
    (is_http3_requested && is_plain_http)
        .then(|| "`http_version` 3 is for `https` alone: HTTP/1.1 is spoken instead".to_owned())
}

fn http3_with_old_tls_warning(input: &RuleInput<'_>) -> Option<String> {
    let document = input.document;
    let version = document.text("use_ssl_version").filter(|version| !["", "13"].contains(version))?;
    let is_plain_http = document.text("url").is_some_and(|url| url.starts_with("http://"));
    let is_http3_requested = document.text("http_version") == Some("3");
    (is_http3_requested && !is_plain_http).then(|| {
        format!(
            "`http_version` 3 needs TLS 1.3, and `use_ssl_version` `{version}` rules it out: checks end as unknown, status 95"
        )
    })
}

fn unsupported_type_warning(input: &RuleInput<'_>) -> Option<String> {
    let monitor_type = input.document.monitor_type();
    let supported = input.context.supported_types?.contains(&monitor_type);
    (!supported).then(|| {
        format!("this build has no probe for type `{monitor_type}`: checks end as unknown, status 95")
    })
}
