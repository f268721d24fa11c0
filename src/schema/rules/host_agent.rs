//! Rules of `hostagent`: its host, its thresholds and the source of its values.

use serde_json::Value;

use super::rule_context::{RuleContext, RuleInput};
use crate::domain::{HOST_METRICS, MonitorType, find_host_metric};
use crate::schema::host_reference::find_host_id;
use crate::syntax::ValidationErrorKind;
use crate::syntax::closest_match;
use crate::syntax::prometheus::selector::MetricSelector;

/// The only metric of a monitor that is pushed: the duration that came with the last push.
pub const PUSH_METRIC: &str = "ping_ms";

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if cx.document().monitor_type() != MonitorType::HostAgent {
        return;
    }
    check_host(cx);
    check_grace(cx);
    check_metrics(cx);
    check_bounds(cx);
}

/// Warns about a host that does not exist: it may be made later, and its monitor says so until then.
pub(super) fn unknown_host_warning(input: &RuleInput<'_>) -> Option<String> {
    let host = input.document.host_reference()?;
    let is_unknown = find_host_id(input.context.hosts?, host).is_none();
    is_unknown.then(|| {
        format!(
            "`host_id`: the account has no host with the id or name `{host}`: checks end as unknown, status 95, until \
             it is made (POST /api/v3/hosts)"
        )
    })
}

fn report<'a>(cx: &RuleContext<'a>) -> &'a str {
    cx.document().text("report").unwrap_or("agent")
}

fn check_host(cx: &mut RuleContext<'_>) {
    if !cx.are_valid(&["report", "host_id"]) {
        return;
    }
    let (report, host) = (report(cx), cx.document().text("host_id"));
    match host {
        None if report != "push" => {
            let message = format!("`host_id` is required when `report` is {report}");
            cx.add_error(ValidationErrorKind::MissingField, "host_id", message);
        }
        Some(_) if report == "push" => {
            let message = "`host_id` has no effect when `report` is push: leave it out".to_owned();
            cx.add_conflict("host_id", message);
        }
        _ => {}
    }
}

fn check_grace(cx: &mut RuleContext<'_>) {
    if report(cx) != "push" && cx.document().int_or_zero("grace") != 60 && cx.are_valid(&["report", "grace"])
    {
        let message = "`grace` is for monitors whose `report` is push".to_owned();
        cx.add_conflict("grace", message);
    }
}

fn check_metrics(cx: &mut RuleContext<'_>) {
    let report = report(cx);
    for (index, threshold) in cx.document().list("thresholds").iter().enumerate() {
        let Some(metric) = threshold.get("metric").and_then(Value::as_str) else { continue };
        let path = format!("thresholds[{index}].metric");
        let selector = match MetricSelector::parse(metric) {
            Ok(selector) => selector,
            Err(error) => {
                cx.add_error(ValidationErrorKind::Format, &path, format!("`{path}`: {error}"));
                continue;
            }
        };
        let problem = match report {
            "scrape" => continue,
            "push" if metric == PUSH_METRIC => continue,
            "push" => format!("a pushed monitor has the metric `{PUSH_METRIC}` alone"),
            _ if selector.is_rate() => {
                "`rate()` is for `report` scrape; the agent reports rates by itself".to_owned()
            }
            _ => match agent_metric_problem(&selector) {
                Some(problem) => problem,
                None => continue,
            },
        };
        cx.add_conflict(&path, format!("`{path}` is `{metric}`: {problem}"));
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

/// Checks that a warning comes before the error: otherwise it could never be one.
fn check_bounds(cx: &mut RuleContext<'_>) {
    for (index, threshold) in cx.document().list("thresholds").iter().enumerate() {
        let bound = |name: &str| threshold.get(name).and_then(Value::as_f64);
        let (Some(warning), Some(error)) = (bound("warning"), bound("error")) else { continue };
        let is_below = threshold.get("direction").and_then(Value::as_str) == Some("below");
        let (is_wrong, side) =
            if is_below { (warning <= error, "above") } else { (warning >= error, "below") };
        if is_wrong {
            let path = format!("thresholds[{index}].warning");
            cx.add_conflict(&path, format!("`{path}` must be {side} `error` {error}, or left out"));
        }
    }
}
