//! Limits of billing plans, when the settings have any (fields.md 3).

use super::rule_context::RuleContext;

pub(super) fn check(bench: &mut RuleContext<'_>) {
    let Some(plans) = bench.context().plans else { return };
    let document = bench.document();
    let Some(code) = document.text("billing_plancode") else { return };
    let Some(plan) = plans.iter().find(|plan| plan.code == code) else {
        let known: Vec<_> = plans.iter().map(|plan| format!("`{}`", plan.code)).collect();
        return bench.add_conflict_with_hint(
            "billing_plancode",
            format!("`billing_plancode`: there is no plan `{code}`"),
            format!("the plans are {}", known.join(", ")),
        );
    };
    let kind = document.monitor_type();
    if !plan.types.is_empty() && !plan.types.contains(&kind) {
        bench.add_conflict(
            "billing_plancode",
            format!("`billing_plancode`: plan `{code}` is not for type `{kind}`"),
        );
    }
    let interval = i64::from(document.settings().schedule.interval);
    if interval < plan.min_interval_minutes && bench.are_valid(&["interval"]) {
        let least = plan.min_interval_minutes;
        let message = format!("`interval` must be at least {least} under plan `{code}`, not `{interval}`");
        bench.add_conflict("interval", message);
    }
    let locations = document.location_ids().len();
    if let Some(most) = plan.max_locations.filter(|most| locations > *most) {
        let message = format!("`locations` must be at most {most} under plan `{code}`, not {locations}");
        bench.add_conflict("locations", message);
    }
    let counted = bench.input.old.is_some_and(|old| old.text("billing_plancode") == Some(code));
    if let Some(most) = plan.max_monitors.filter(|most| !counted && plan.monitor_count >= *most) {
        bench.add_conflict(
            "billing_plancode",
            format!("`billing_plancode`: plan `{code}` is full with {most} monitors"),
        );
    }
}
