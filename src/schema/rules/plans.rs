//! Limits of billing plans, when the settings have any (fields.md 3).

use super::judged::Bench;

pub(super) fn check(bench: &mut Bench<'_>) {
    let Some(plans) = bench.around().plans else { return };
    let document = bench.document();
    let Some(code) = document.text("billing_plancode") else { return };
    let Some(plan) = plans.iter().find(|plan| plan.code == code) else {
        let known: Vec<_> = plans.iter().map(|plan| format!("`{}`", plan.code)).collect();
        return bench.conflict_with_hint(
            "billing_plancode",
            format!("`billing_plancode`: there is no plan `{code}`"),
            format!("the plans are {}", known.join(", ")),
        );
    };
    let kind = document.kind();
    if !plan.types.is_empty() && !plan.types.contains(&kind) {
        bench.conflict(
            "billing_plancode",
            format!("`billing_plancode`: plan `{code}` is not for type `{kind}`"),
        );
    }
    let interval = i64::from(document.settings().schedule.interval);
    if interval < plan.least_interval && bench.sound(&["interval"]) {
        let least = plan.least_interval;
        let message = format!("`interval` must be at least {least} under plan `{code}`, not `{interval}`");
        bench.conflict("interval", message);
    }
    let locations = document.locations().len();
    if let Some(most) = plan.most_locations.filter(|most| locations > *most) {
        let message = format!("`locations` must be at most {most} under plan `{code}`, not {locations}");
        bench.conflict("locations", message);
    }
    let counted = bench.judged.old.is_some_and(|old| old.text("billing_plancode") == Some(code));
    if let Some(most) = plan.most_monitors.filter(|most| !counted && plan.monitors >= *most) {
        bench.conflict(
            "billing_plancode",
            format!("`billing_plancode`: plan `{code}` is full with {most} monitors"),
        );
    }
}
