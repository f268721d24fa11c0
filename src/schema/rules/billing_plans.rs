//! Limits of billing plans, if the settings have any (fields.md 3).

use super::rule_context::RuleContext;

pub(super) fn check(cx: &mut RuleContext<'_>) {
    let Some(plans) = cx.context().billing_plans else { return };
    let document = cx.document();
    let Some(code) = document.text("billing_plancode") else { return };
    let Some(plan) = plans.iter().find(|plan| plan.code == code) else {
        let plan_codes: Vec<_> = plans.iter().map(|plan| format!("`{}`", plan.code)).collect();
        return cx.add_conflict_with_hint(
            "billing_plancode",
            format!("`billing_plancode`: there is no plan `{code}`"),
            format!("the plans are {}", plan_codes.join(", ")),
        );
    };
    let monitor_type = document.monitor_type();
    if !plan.monitor_types.is_empty() && !plan.monitor_types.contains(&monitor_type) {
        cx.add_conflict(
            "billing_plancode",
            format!("`billing_plancode`: plan `{code}` is not for type `{monitor_type}`"),
        );
    }
    let settings = document.settings();
    let seconds = settings.interval_seconds.filter(|_| plan.min_interval_minutes > 0);
    if let Some(seconds) = seconds.filter(|_| cx.are_valid(&["interval_seconds"])) {
        let min = plan.min_interval_minutes;
        let message =
            format!("`interval_seconds` cannot be {seconds}: plan `{code}` has at least {min} minutes");
        cx.add_conflict("interval_seconds", message);
    }
    let interval = i64::from(settings.schedule.interval_minutes);
    if seconds.is_none() && interval < plan.min_interval_minutes && cx.are_valid(&["interval"]) {
        let min = plan.min_interval_minutes;
        let message = format!("`interval` must be at least {min} under plan `{code}`, not `{interval}`");
        cx.add_conflict("interval", message);
    }
    let locations = document.location_ids().len();
    if let Some(max) = plan.max_locations.filter(|max| locations > *max) {
        let message = format!("`locations` must be at most {max} under plan `{code}`, not {locations}");
        cx.add_conflict("locations", message);
    }
    let is_counted_already = cx.input.previous.is_some_and(|old| old.text("billing_plancode") == Some(code));
    if let Some(max) = plan.max_monitors.filter(|max| !is_counted_already && plan.monitor_count >= *max) {
        cx.add_conflict(
            "billing_plancode",
            format!("`billing_plancode`: plan `{code}` is full with {max} monitors"),
        );
    }
}
