//! Rules of `hostagent`, and warnings about hosts and thresholds that watch over nothing. Warnings, since earlier versions
//! took any text; a check says so too.

use serde_json::Value;

use super::rule_context::{RuleContext, RuleInput};
use crate::domain::{HOST_METRICS, MonitorType, find_host_metric};
use crate::schema::host_reference::find_host_id;
use crate::syntax::prometheus::selector::MetricSelector;
use crate::syntax::{ValidationErrorKind, closest_match, truncate_value};

/// The only metric of a monitor that is pushed: the duration that came with the last push.
pub const PUSH_METRIC: &str = "ping_ms";

/// Seconds of `grace` without another value.
const DEFAULT_GRACE_S: i64 = 60;

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if cx.document().monitor_type() != MonitorType::HostAgent || !cx.are_valid(&["report", "host_id"]) {
        return;
    }
    let report = cx.document().text("report").unwrap_or("agent");
    if cx.document().host_reference().is_none() && report != "push" {
        let message = format!("`host_id` is required when `report` is {report}");
        cx.add_error(ValidationErrorKind::MissingField, "host_id", message);
    }
}

/// Returns the warnings about an accepted document.
pub(super) fn warnings(input: &RuleInput<'_>) -> Vec<String> {
    if input.document.monitor_type() != MonitorType::HostAgent {
        return Vec::new();
    }
    let report = input.document.text("report").unwrap_or("agent");
    let mut warnings: Vec<String> = host_warning(input, report).into_iter().collect();
    if report != "push" && input.document.int_or_zero("grace") != DEFAULT_GRACE_S {
        warnings.push("`grace` is not used: it is for monitors whose `report` is push".to_owned());
    }
    for (index, threshold) in input.document.list("thresholds").iter().enumerate() {
        let metric = threshold.get("metric").and_then(Value::as_str).unwrap_or_default();
        if let Some(problem) = metric_problem(metric, report) {
            warnings.push(format!("`thresholds[{index}].metric` is `{}`: {problem}", truncate_value(metric)));
        }
        warnings.extend(bounds_warning(index, threshold));
    }
    warnings
}

fn host_warning(input: &RuleInput<'_>, report: &str) -> Option<String> {
    let host = input.document.host_reference()?;
    if report == "push" {
        return Some("`host_id` is not used: `report` is push".to_owned());
    }
    // It may be made later.
    find_host_id(input.context.hosts?, host).is_none().then(|| {
        format!(
            "`host_id`: the account has no host with the id or name `{}`: checks end as unknown, status 95, until it is \
             made (POST /api/v3/hosts)",
            truncate_value(host)
        )
    })
}

/// Returns why a threshold on `metric` finds no series.
fn metric_problem(metric: &str, report: &str) -> Option<String> {
    let selector = match MetricSelector::parse(metric) {
        Ok(selector) => selector,
        Err(error) => return Some(format!("{error}")),
    };
    match report {
        "scrape" => None,
        "push" if metric == PUSH_METRIC => None,
        "push" => Some(format!("a pushed monitor has the metric `{PUSH_METRIC}` alone")),
        _ if selector.is_rate() => {
            Some("`rate()` is for `report` scrape; the agent reports rates by itself".to_owned())
        }
        _ => agent_metric_problem(&selector),
    }
}

/// Returns why the agent of a host reports no such series.
fn agent_metric_problem(selector: &MetricSelector) -> Option<String> {
    let Some(metric) = find_host_metric(selector.metric()) else {
        let names = HOST_METRICS.iter().map(|metric| metric.name);
        let hint = closest_match(selector.metric(), names)
            .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        return Some(format!("the agent of a host has no such metric{hint}"));
    };
    let unknown = selector.labels().iter().find(|(label, _)| Some(label.as_str()) != metric.label)?;
    Some(match metric.label {
        Some(label) => format!("`{}` has the label `{label}`, not `{}`", metric.name, unknown.0),
        None => format!("`{}` has no labels", metric.name),
    })
}

/// Warns about a warning that is never reached, since the error comes first.
fn bounds_warning(index: usize, threshold: &Value) -> Option<String> {
    let bound = |name: &str| threshold.get(name).and_then(Value::as_f64);
    let (warning, error) = (bound("warning")?, bound("error")?);
    let is_below = threshold.get("direction").and_then(Value::as_str) == Some("below");
    let (is_wrong, side) = if is_below { (warning <= error, "above") } else { (warning >= error, "below") };
    is_wrong
        .then(|| format!("`thresholds[{index}].warning` has no effect: it must be {side} `error` {error}"))
}
