//! What an author should know of a document that is accepted (fields.md 2, behaviour.md 3 and 4).

use std::time::Duration;

use super::super::monitor_document::MonitorDocument;
use super::rule_context::RuleInput;
use super::scripts;
use crate::domain::MonitorType;
use crate::script::language::Script;

/// One sentence each.
pub(crate) fn warnings(judged: &RuleInput<'_>) -> Vec<String> {
    let warnings = [
        unused_address(judged),
        attempts_exceed_interval(judged),
        unsupported_tls_version(judged),
        http3_without_tls(judged),
        http3_with_old_tls(judged),
        unsupported_type(judged),
    ];
    warnings.into_iter().flatten().chain(scripts::warnings(judged)).collect()
}

fn unused_address(judged: &RuleInput<'_>) -> Option<String> {
    let document = judged.document;
    let field = ["ipv4", "ip_address"].into_iter().find(|field| document.text(field).is_some())?;
    let unused = document.flag("resolve_dns");
    unused.then(|| format!("`{field}` is not used: `resolve_dns` is true, so the name is resolved"))
}

fn attempts_exceed_interval(judged: &RuleInput<'_>) -> Option<String> {
    let document = judged.document;
    let schedule = document.settings().schedule;
    let attempts = if schedule.retry_on_failure { 2 } else { 1 };
    let (longest, interval) = (attempts * attempt_seconds(document), 60 * i64::from(schedule.interval));
    (longest > interval).then(|| {
        format!(
            "{attempts} attempts may take {longest} s, longer than the interval of {interval} s: runs are skipped then"
        )
    })
}

/// How long one attempt may take; of a script the sum of its steps (fields.md 3, `step_timeout`).
fn attempt_seconds(document: &MonitorDocument) -> i64 {
    let settings = document.settings();
    if document.monitor_type() != MonitorType::BrowserScript {
        return settings.schedule.timeout.into();
    }
    let script = match document.script().filter(|script| !script.is_empty()) {
        // One that cannot be read is not played.
        Some(text) => Script::parse(text).unwrap_or_default(),
        None => Script::from_url(document.url().unwrap_or_default()),
    };
    let page = Duration::from_secs(settings.schedule.timeout.into());
    let step = settings.step_timeout.map(|seconds| Duration::from_secs(seconds.into()));
    i64::try_from(script.max_duration(page, step).as_secs()).unwrap_or(i64::MAX / 2)
}

fn unsupported_tls_version(judged: &RuleInput<'_>) -> Option<String> {
    let version = judged.document.text("use_ssl_version").filter(|version| !version.is_empty())?;
    let spoken = judged.context.supported_tls_versions.is_none_or(|spoken| spoken.contains(&version));
    let told = |who: &str, help: &str| {
        format!(
            "`use_ssl_version` `{version}` cannot be spoken by {who}: checks end as unknown, status 95{help}"
        )
    };
    match version {
        "2" => Some(told("any build", "")),
        _ if !spoken => Some(told("this build", "; one that is built with `--features legacy-tls` can")),
        _ => None,
    }
}

fn http3_without_tls(judged: &RuleInput<'_>) -> Option<String> {
    let document = judged.document;
    let plain = document.text("url").is_some_and(|url| url.starts_with("http://"));
    let wanted = document.text("http_version") == Some("3");
    (wanted && plain).then(|| "`http_version` 3 is for `https` alone: HTTP/1.1 is spoken instead".to_owned())
}

fn http3_with_old_tls(judged: &RuleInput<'_>) -> Option<String> {
    let document = judged.document;
    let version = document.text("use_ssl_version").filter(|version| !version.is_empty())?;
    let plain = document.text("url").is_some_and(|url| url.starts_with("http://"));
    let wanted = document.text("http_version") == Some("3");
    (wanted && !plain).then(|| {
        format!(
            "`http_version` 3 needs TLS 1.3, and `use_ssl_version` `{version}` rules it out: checks end as unknown, status 95"
        )
    })
}

fn unsupported_type(judged: &RuleInput<'_>) -> Option<String> {
    let kind = judged.document.monitor_type();
    let probed = judged.context.supported_types?.contains(&kind);
    (!probed).then(|| format!("this build has no probe for type `{kind}`: checks end as unknown, status 95"))
}
